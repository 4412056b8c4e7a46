//! One operation: one direct call of a function that does next to nothing and is never inlined.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use switch_cost::layout;

fn call_function(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut calls = 0;
    clock.time(1, |laps| {
        for () in laps {
            calls = layout(calls);
        }
        Ok(())
    })?;
    Ok(calls)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), call_function)
}
