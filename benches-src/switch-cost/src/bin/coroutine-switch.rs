//! One operation: one switch from a stackful coroutine to another or back, on one thread and without any scheduler.

use std::process::ExitCode;

use anyhow::Result;
use corosensei::{Coroutine, CoroutineResult};
use harness::{Laps, Nothing, Placement, Repeat};

struct CoroutineSwitch {
    other: Coroutine<(), u64, ()>,
    resumed: u64,
}

impl Repeat for CoroutineSwitch {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        let other = Coroutine::new(|yielder, ()| {
            for resumed in 1.. {
                yielder.suspend(resumed);
            }
        });
        Ok(Self { other, resumed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        // There and back.
        2
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            if let CoroutineResult::Yield(resumed) = self.other.resume(()) {
                self.resumed = resumed;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(2 * self.resumed)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CoroutineSwitch>(harness::name!())
}
