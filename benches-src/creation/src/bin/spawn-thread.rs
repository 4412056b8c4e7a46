//! One operation: one thread created by the standard library; it ends at once, and its creator joins it.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use creation::BatchOfStacks;
use harness::{Clock, Placement};
use resources::reserve_threads;

fn spawn_thread(parameters: BatchOfStacks, _: Placement, clock: Clock) -> Result<u64> {
    let BatchOfStacks { batch, stack_bytes } = parameters;
    reserve_threads(batch.batch as usize)?;
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        let (mut batches, mut threads) = (batch.laps(laps), batch.room());
        while batches.go_on() {
            batches.create(&mut threads, || {
                let thread = thread::Builder::new().stack_size(stack_bytes as usize);
                Ok(thread.spawn(move || batch.until.first_instruction())?)
            })?;
            for thread in threads.drain(..) {
                batches.ended(thread.join().expect("a thread that reads the clock does not panic"));
            }
        }
        ended += batches.count();
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), spawn_thread)
}
