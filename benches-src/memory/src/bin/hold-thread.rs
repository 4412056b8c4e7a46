//! One operation: one thread held, which has touched part of its stack and is blocked.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use memory::{Climb, Counting, Gate, Held, Threads, by_touch, touch};
use resources::reserve_threads;

fn hold_thread(parameters: Threads, climb: Climb) -> Result<()> {
    parameters.check()?;
    reserve_threads(parameters.most())?;
    let body = by_touch!(parameters.touch_bytes, hold);
    let gate = Arc::<Gate>::default();
    let mut threads = Vec::with_capacity(parameters.most());
    let climbed = climb.add_units(|held, next| {
        for _ in held..next {
            let gate = gate.clone();
            threads.push(parameters.builder().spawn(move || body(&gate))?);
        }
        gate.await_arrivals(next)
    });
    gate.open();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    climbed
}

fn hold<const TOUCH_BYTES: usize>(gate: &Gate) {
    let mut own = [0; TOUCH_BYTES];
    touch(&mut own);
    gate.wait();
    touch(&mut own);
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_thread)
}
