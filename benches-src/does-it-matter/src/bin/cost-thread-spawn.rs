//! One operation: one thread created by the standard library, which ends at once, and joined.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};

fn cost_thread_spawn(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut ended = 0;
    clock.time(1, |laps| {
        for () in laps {
            ended += thread::Builder::new().spawn(|| 1)?.join().expect("it does not panic");
        }
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_thread_spawn)
}
