//! One operation: one thread created by `pthread_create` on a stack that was mapped and touched beforehand; it ends at once and is joined.

use std::process::ExitCode;

use anyhow::{Context, Result};
use creation::BatchOfStacks;
use creation::pthread::{self, Thread};
use creation::stacks::Stacks;
use harness::{Clock, Placement};
use resources::reserve_threads;

fn spawn_pthread_own_stack(parameters: BatchOfStacks, _: Placement, clock: Clock) -> Result<u64> {
    let BatchOfStacks { batch, stack_bytes } = parameters;
    let count = batch.batch as usize;
    reserve_threads(count)?;
    let stacks = Stacks::map(count, stack_bytes as usize)?;
    // One for each unit of a batch, with a stack each.
    let attributes = (0..count).map(|number| stacks.ready(number)).collect::<Result<Vec<_>>>()?;
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        let mut attributes = attributes.iter().cycle();
        ended += pthread::run(batch, laps, || {
            let own = attributes.next().context("a batch has at least one unit, and each a stack")?;
            // SAFETY: there are as many stacks as units in a batch, so that each goes to one of them; the batch is joined before
            // the next one, and before `stacks` unmaps them, even if something fails, since dropping a thread joins it.
            unsafe { Thread::create(own, batch.until) }
        })?;
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), spawn_pthread_own_stack)
}
