//! One operation: one stackful coroutine created, run to its end by its creator, and its stack given back.

use std::process::ExitCode;

use anyhow::Result;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use creation::BatchOfStacks;
use harness::{Clock, Placement};

fn new_coroutine(BatchOfStacks { batch, stack_bytes }: BatchOfStacks, _: Placement, clock: Clock) -> Result<u64> {
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        let (mut batches, mut coroutines) = (batch.laps(laps), batch.room());
        while batches.go_on() {
            batches.create(&mut coroutines, || {
                let stack = DefaultStack::new(stack_bytes as usize)?;
                Ok(Coroutine::<(), (), u64>::with_stack(stack, move |_, ()| batch.until.first_instruction()))
            })?;
            for mut coroutine in coroutines.drain(..) {
                if let CoroutineResult::Return(first_instruction_ns) = coroutine.resume(()) {
                    batches.ended(first_instruction_ns);
                }
            }
        }
        ended += batches.count();
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), new_coroutine)
}
