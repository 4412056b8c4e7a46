//! One operation: one thread created by the standard library; it ends at once, and its creator joins it.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use creation::BatchOfStacks;
use harness::{Laps, Placement, Repeat};
use resources::reserve_threads;

struct SpawnThread {
    parameters: BatchOfStacks,
    ended: u64,
}

impl Repeat for SpawnThread {
    type Parameters = BatchOfStacks;

    fn set_up(parameters: &BatchOfStacks, _: Placement) -> Result<Self> {
        reserve_threads(parameters.batch.batch as usize)?;
        Ok(Self { parameters: *parameters, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let BatchOfStacks { batch, stack_bytes } = self.parameters;
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
        self.ended += batches.count();
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<SpawnThread>(harness::name!())
}
