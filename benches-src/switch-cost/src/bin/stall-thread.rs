//! One operation: one sleep of a millisecond by a thread beside one that computes without end.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};
use switch_cost::SLEEP;

struct StallThread {
    neighbour: JoinHandle<()>,
    ended: Arc<AtomicBool>,
    slept: u64,
}

impl Repeat for StallThread {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        let ended = Arc::<AtomicBool>::default();
        let seen = ended.clone();
        let neighbour = thread::spawn(move || {
            placement.pin_participant(1).expect("the placement was applied before");
            while !seen.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        placement.pin_participant(0)?;
        Ok(Self { neighbour, ended, slept: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            thread::sleep(SLEEP);
            self.slept += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        self.ended.store(true, Ordering::Relaxed);
        self.neighbour.join().expect("the neighbour panicked");
        Ok(self.slept)
    }
}

fn main() -> ExitCode {
    harness::repeat::<StallThread>(harness::name!())
}
