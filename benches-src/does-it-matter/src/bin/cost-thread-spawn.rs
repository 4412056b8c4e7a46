//! One operation: one thread created by the standard library, which ends at once, and joined.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};

struct CostThreadSpawn {
    ended: u64,
}

impl Repeat for CostThreadSpawn {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self { ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.ended += thread::Builder::new().spawn(|| 1)?.join().expect("it does not panic");
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostThreadSpawn>(harness::name!())
}
