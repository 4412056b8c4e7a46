//! One operation: one tokio task spawned; it ends the first time it is polled, and its creator awaits that.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use creation::{Batch, Batches};
use harness::{Laps, Placement, Repeat};
use runtime::Flavor;
use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    batch: Batch,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
    /// Who spawns
    #[arg(long, value_enum, default_value_t)]
    from: From,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum From {
    /// A task of the same runtime
    #[default]
    Inside,
    /// A thread that is none of the runtime's workers
    Outside,
}

struct SpawnTokio {
    runtime: Runtime,
    parameters: Parameters,
    ended: u64,
}

impl Repeat for SpawnTokio {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        Ok(Self { runtime: parameters.runtime.start(placement)?, parameters: *parameters, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let Parameters { batch, from, .. } = self.parameters;
        let (mut batches, mut tasks) = (batch.laps(laps), batch.room());
        let unit = move || async move { batch.until.first_instruction() };
        self.ended += match from {
            From::Outside => {
                while batches.go_on() {
                    batches.create(&mut tasks, || Ok(self.runtime.spawn(unit())))?;
                    self.runtime.block_on(join(&mut tasks, &mut batches))?;
                }
                batches.count()
            }
            From::Inside => self.runtime.block_on(self.runtime.spawn(async move {
                while batches.go_on() {
                    batches.create(&mut tasks, || Ok(tokio::spawn(unit())))?;
                    join(&mut tasks, &mut batches).await?;
                }
                anyhow::Ok(batches.count())
            }))??,
        };
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

async fn join(tasks: &mut Vec<JoinHandle<u64>>, batches: &mut Batches) -> Result<()> {
    for task in tasks.drain(..) {
        batches.ended(task.await?);
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<SpawnTokio>(harness::name!())
}
