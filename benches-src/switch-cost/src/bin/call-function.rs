//! One operation: one direct call of a function that does next to nothing and is never inlined.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use switch_cost::layout;

fn call_function(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut calls = 0;
    clock.time(1, |laps| {
        // Stored after each call and read back after none, so that no call waits for what the one before it stored.
        let mut called = calls;
        for () in laps {
            called = layout(called);
            calls = called;
        }
        Ok(())
    })?;
    Ok(calls)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), call_function)
}
