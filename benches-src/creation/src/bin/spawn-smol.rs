//! One operation: one smol task spawned by another; it ends the first time it is polled, and its creator awaits that.

use std::process::ExitCode;

use anyhow::Result;
use creation::Batch;
use harness::{Clock, Placement};

fn spawn_smol(batch: Batch, _: Placement, clock: Clock) -> Result<u64> {
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        let (mut batches, mut tasks) = (batch.laps(laps), batch.room());
        // A task among tasks: what `block_on` runs directly would sit on a thread that is not the executor's.
        ended += smol::block_on(smol::spawn(async move {
            while batches.go_on() {
                batches.create(&mut tasks, || Ok(smol::spawn(async move { batch.until.first_instruction() })))?;
                for task in tasks.drain(..) {
                    batches.ended(task.await);
                }
            }
            anyhow::Ok(batches.count())
        }))?;
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), spawn_smol)
}
