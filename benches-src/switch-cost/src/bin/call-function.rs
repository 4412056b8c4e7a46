//! One operation: one direct call of a function that does next to nothing and is never inlined.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use switch_cost::layout;

fn call_function(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut calls = 0;
    clock.time(1, |laps| {
        // The closure's own, so that no call waits for what the one before it stored for others to read.
        let mut called = calls;
        for () in laps {
            called = layout(called);
        }
        calls = called;
        Ok(())
    })?;
    Ok(calls)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), call_function)
}
