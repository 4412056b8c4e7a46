//! One operation: nothing. The smallest program on the entry `repeat`.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};

fn nothing(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            done += 1;
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat("harness/nothing", nothing)
}
