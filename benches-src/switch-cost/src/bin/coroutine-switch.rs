//! One operation: one switch from a stackful coroutine to another or back, on one thread and without any scheduler.

use std::process::ExitCode;

use anyhow::Result;
use corosensei::{Coroutine, CoroutineResult};
use harness::{Clock, Nothing, Placement};

fn coroutine_switch(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let mut other = Coroutine::new(|yielder, ()| {
        for resumed in 1.. {
            yielder.suspend(resumed);
        }
    });
    let mut resumed = 0;
    // There and back.
    clock.time(2, |laps| {
        for () in laps {
            if let CoroutineResult::Yield(times) = other.resume(()) {
                resumed = times;
            }
        }
        Ok(())
    })?;
    Ok(2 * resumed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), coroutine_switch)
}
