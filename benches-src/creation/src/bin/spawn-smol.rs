//! One operation: one smol task spawned by another; it ends the first time it is polled, and its creator awaits that.

use std::process::ExitCode;

use anyhow::Result;
use creation::Batch;
use harness::{Laps, Placement, Repeat};

struct SpawnSmol {
    batch: Batch,
    ended: u64,
}

impl Repeat for SpawnSmol {
    type Parameters = Batch;

    fn set_up(batch: &Batch, _: Placement) -> Result<Self> {
        Ok(Self { batch: *batch, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let batch = self.batch;
        let (mut batches, mut tasks) = (batch.laps(laps), batch.room());
        // A task among tasks: what `block_on` runs directly would sit on a thread that is not the executor's.
        self.ended += smol::block_on(smol::spawn(async move {
            while batches.go_on() {
                batches.create(&mut tasks, || Ok(smol::spawn(async move { batch.until.first_instruction() })))?;
                for task in tasks.drain(..) {
                    batches.ended(task.await);
                }
            }
            anyhow::Ok(batches.count())
        }))?;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<SpawnSmol>(harness::name!())
}
