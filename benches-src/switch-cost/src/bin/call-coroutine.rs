//! One operation: one call of the same function in a stackful coroutine: two switches.

use std::process::ExitCode;

use anyhow::{Result, bail};
use corosensei::{Coroutine, CoroutineResult};
use harness::{Clock, Nothing, Placement};
use switch_cost::layout;

fn call_coroutine(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut server = Coroutine::new(|yielder, mut calls| {
        loop {
            calls = yielder.suspend(layout(calls));
        }
    });
    let mut calls = 0;
    clock.time(1, |laps| {
        // Read back after none of the calls, so that no call waits for what the one before it stored.
        let mut called = calls;
        for () in laps {
            match server.resume(called) {
                CoroutineResult::Yield(times) => called = times,
                CoroutineResult::Return(()) => bail!("the server left"),
            }
        }
        calls = called;
        Ok(())
    })?;
    // The function adds one to what it is called with.
    Ok(calls)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), call_coroutine)
}
