//! One operation: one tokio task held, which has been polled once and is pending.

use std::process::ExitCode;

use anyhow::Result;
use memory::{Climb, Tasks, Units, all_started, by_touch, hold};
use tokio::runtime::{Builder, Runtime};

struct HoldTokio {
    runtime: Runtime,
    spawn: fn(&Runtime) -> usize,
    held: usize,
    future_bytes: Option<usize>,
}

impl Units for HoldTokio {
    type Parameters = Tasks;

    fn set_up(parameters: &Tasks) -> Result<Self> {
        let runtime = Builder::new_current_thread().build()?;
        Ok(Self { runtime, spawn: by_touch!(parameters.touch_bytes, spawn), held: 0, future_bytes: None })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.future_bytes = Some((self.spawn)(&self.runtime));
        }
        self.held += count;
        self.runtime.block_on(all_started(self.held));
        Ok(())
    }

    fn future_bytes(&self) -> Option<usize> {
        self.future_bytes
    }
}

/// Spawns one, and says how large its future is.
fn spawn<const TOUCH_BYTES: usize>(runtime: &Runtime) -> usize {
    let future = hold::<TOUCH_BYTES>();
    let bytes = size_of_val(&future);
    runtime.spawn(future);
    bytes
}

fn main() -> ExitCode {
    harness::once::<Climb<HoldTokio>>(harness::name!())
}
