//! One operation: one tokio task spawned; it ends the first time it is polled, and its creator awaits that.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use creation::{Batch, Batches};
use harness::{Clock, Placement};
use runtime::Flavor;
use serde::Serialize;
use tokio::task::JoinHandle;

fn spawn_tokio(Parameters { batch, runtime, from }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let unit = move || async move { batch.until.first_instruction() };
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        let (mut batches, mut tasks) = (batch.laps(laps), batch.room());
        ended += match from {
            From::Outside => {
                while batches.go_on() {
                    batches.create(&mut tasks, || Ok(runtime.spawn(unit())))?;
                    runtime.block_on(join(&mut tasks, &mut batches))?;
                }
                batches.count()
            }
            From::Inside => runtime.block_on(runtime.spawn(async move {
                while batches.go_on() {
                    batches.create(&mut tasks, || Ok(tokio::spawn(unit())))?;
                    join(&mut tasks, &mut batches).await?;
                }
                anyhow::Ok(batches.count())
            }))??,
        };
        Ok(())
    })?;
    Ok(ended)
}

async fn join(tasks: &mut Vec<JoinHandle<u64>>, batches: &mut Batches) -> Result<()> {
    for task in tasks.drain(..) {
        batches.ended(task.await?);
    }
    Ok(())
}

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

fn main() -> ExitCode {
    harness::repeat(harness::name!(), spawn_tokio)
}
