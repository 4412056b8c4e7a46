//! One operation: one thread created by `pthread_create` alone, without what the standard library adds; it ends at once and is joined.

use std::process::ExitCode;

use anyhow::Result;
use creation::BatchOfStacks;
use creation::pthread::{self, Attributes, Thread};
use harness::{Laps, Placement, Repeat};
use resources::reserve_threads;

struct SpawnPthread {
    parameters: BatchOfStacks,
    attributes: Attributes,
    ended: u64,
}

impl Repeat for SpawnPthread {
    type Parameters = BatchOfStacks;

    fn set_up(parameters: &BatchOfStacks, _: Placement) -> Result<Self> {
        reserve_threads(parameters.batch.batch as usize)?;
        let attributes = Attributes::of_size(parameters.stack_bytes as usize)?;
        Ok(Self { parameters: *parameters, attributes, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let batch = self.parameters.batch;
        self.ended += pthread::run(batch, laps, || {
            // SAFETY: these attributes name no stack.
            unsafe { Thread::create(&self.attributes, batch.until) }
        })?;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<SpawnPthread>(harness::name!())
}
