//! One operation: one stackful coroutine created, run to its end by its creator, and its stack given back.

use std::process::ExitCode;

use anyhow::Result;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use creation::BatchOfStacks;
use harness::{Laps, Placement, Repeat};

struct NewCoroutine {
    parameters: BatchOfStacks,
    ended: u64,
}

impl Repeat for NewCoroutine {
    type Parameters = BatchOfStacks;

    fn set_up(parameters: &BatchOfStacks, _: Placement) -> Result<Self> {
        Ok(Self { parameters: *parameters, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let BatchOfStacks { batch, stack_bytes } = self.parameters;
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
        self.ended += batches.count();
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<NewCoroutine>(harness::name!())
}
