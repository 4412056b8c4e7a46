//! One operation: one thread created by `pthread_create` alone, without what the standard library adds; it ends at once and is joined.

use std::process::ExitCode;

use anyhow::Result;
use creation::BatchOfStacks;
use creation::pthread::{self, Attributes, Thread};
use harness::{Clock, Placement};
use resources::reserve_threads;

fn spawn_pthread(parameters: BatchOfStacks, _: Placement, clock: Clock) -> Result<u64> {
    let BatchOfStacks { batch, stack_bytes } = parameters;
    reserve_threads(batch.batch as usize)?;
    let attributes = Attributes::of_size(stack_bytes as usize)?;
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        ended += pthread::run(batch, laps, || {
            // SAFETY: these attributes name no stack.
            unsafe { Thread::create(&attributes, batch.until) }
        })?;
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), spawn_pthread)
}
