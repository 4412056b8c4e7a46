//! One operation: one sleep of a millisecond by a thread beside one that computes without end.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use switch_cost::SLEEP;

fn stall_thread(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let ended = Arc::<AtomicBool>::default();
    let seen = ended.clone();
    let neighbour = thread::spawn(move || {
        placement.pin_participant(1).expect("the placement was applied before");
        while !seen.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    placement.pin_participant(0)?;
    let mut slept = 0;
    clock.time(1, |laps| {
        for () in laps {
            thread::sleep(SLEEP);
            slept += 1;
        }
        Ok(())
    })?;
    ended.store(true, Ordering::Relaxed);
    neighbour.join().expect("the neighbour panicked");
    Ok(slept)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), stall_thread)
}
