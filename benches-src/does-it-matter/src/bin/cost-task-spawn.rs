//! One operation: one tokio task spawned by another on the same thread; it ends the first time it is polled, and its creator awaits that.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use runtime::Flavor;

fn cost_task_spawn(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = Flavor::Current.start(placement)?;
    let mut ended = 0;
    clock.time(1, |laps| {
        let creator = runtime.spawn(async move {
            let mut ended = 0;
            for () in laps {
                ended += tokio::spawn(async { 1 }).await?;
            }
            anyhow::Ok(ended)
        });
        ended += runtime.block_on(creator)??;
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_task_spawn)
}
