//! One operation: one call of a function by `block_in_place`, and the yield by which the task comes back to a worker of tokio's.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Laps, Nothing, Placement};
use runtime::Flavor;
use switch_cost::layout;
use tokio::task::{block_in_place, yield_now};

fn leave_in_place(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    // tokio's single-threaded runtime has nobody to leave its other tasks to, and refuses.
    let runtime = Flavor::Multi.start(placement)?;
    let mut calls = 0;
    clock.time(1, |laps| {
        calls = runtime.block_on(runtime.spawn(drive(calls, laps)))?;
        Ok(())
    })?;
    // The function adds one to what it is called with.
    Ok(calls)
}

async fn drive(mut calls: u64, laps: Laps) -> u64 {
    for () in laps {
        calls = block_in_place(|| layout(calls));
        // Once its tasks have gone to another thread, this one is no worker until the task waits, and leaves for nothing.
        yield_now().await;
    }
    calls
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), leave_in_place)
}
