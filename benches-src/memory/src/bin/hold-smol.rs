//! One operation: one smol task held, which has been polled once and is pending.

use std::process::ExitCode;

use anyhow::Result;
use memory::{Climb, Tasks, Units, all_started, by_touch, hold};
use smol::Executor;

struct HoldSmol {
    executor: Executor<'static>,
    spawn: fn(&Executor<'static>) -> usize,
    held: usize,
    future_bytes: Option<usize>,
}

impl Units for HoldSmol {
    type Parameters = Tasks;

    fn set_up(parameters: &Tasks) -> Result<Self> {
        let executor = Executor::new();
        Ok(Self { executor, spawn: by_touch!(parameters.touch_bytes, spawn), held: 0, future_bytes: None })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.future_bytes = Some((self.spawn)(&self.executor));
        }
        self.held += count;
        smol::block_on(self.executor.run(all_started(self.held)));
        Ok(())
    }

    fn future_bytes(&self) -> Option<usize> {
        self.future_bytes
    }
}

/// Spawns one, and says how large its future is.
fn spawn<const TOUCH_BYTES: usize>(executor: &Executor<'static>) -> usize {
    let future = hold::<TOUCH_BYTES>();
    let bytes = size_of_val(&future);
    executor.spawn(future).detach();
    bytes
}

fn main() -> ExitCode {
    harness::once::<Climb<HoldSmol>>(harness::name!())
}
