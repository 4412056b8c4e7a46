//! One operation: one thread held that sleeps for an hour, on the standard library's default stack.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use anyhow::Result;
use memory::{Climb, Counting, HOUR, Held, Sleepers, started, wait_until_started};
use resources::reserve_threads;

static MAY_LEAVE: AtomicBool = AtomicBool::new(false);

fn hold_thread_asleep(sleepers: Sleepers, climb: Climb) -> Result<()> {
    reserve_threads(sleepers.most())?;
    let mut threads = Vec::with_capacity(sleepers.most());
    let climbed = climb.add_units(|held, next| {
        for _ in held..next {
            threads.push(thread::Builder::new().spawn(nap)?);
        }
        wait_until_started(next)
    });
    MAY_LEAVE.store(true, Relaxed);
    for thread in threads {
        thread.thread().unpark();
        drop(thread.join());
    }
    climbed
}

/// Sleeps in the kernel with a timer, as in `thread::sleep`, from which nobody could call it back.
fn nap() {
    started();
    while !MAY_LEAVE.load(Relaxed) {
        thread::park_timeout(HOUR);
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_thread_asleep)
}
