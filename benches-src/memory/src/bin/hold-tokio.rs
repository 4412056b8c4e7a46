//! One operation: one tokio task held, which has been polled once and is pending.

use std::process::ExitCode;

use anyhow::Result;
use memory::{Climb, Counting, Tasks, all_started, by_touch, hold};
use tokio::runtime::{Builder, Runtime};

fn hold_tokio(tasks: Tasks, climb: Climb) -> Result<()> {
    let runtime = Builder::new_current_thread().build()?;
    let spawn = by_touch!(tasks.touch_bytes, spawn);
    climb.add_futures(|held, next| {
        let mut future_bytes = 0;
        for _ in held..next {
            future_bytes = spawn(&runtime);
        }
        runtime.block_on(all_started(next));
        Ok(future_bytes)
    })
}

/// Spawns one, and says how large its future is.
fn spawn<const TOUCH_BYTES: usize>(runtime: &Runtime) -> usize {
    let future = hold::<TOUCH_BYTES>();
    let bytes = size_of_val(&future);
    runtime.spawn(future);
    bytes
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_tokio)
}
