//! One operation: one direct call of a function that does next to nothing and is never inlined.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};
use switch_cost::layout;

struct CallFunction {
    calls: u64,
}

impl Repeat for CallFunction {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self { calls: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.calls = layout(self.calls);
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.calls)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CallFunction>(harness::name!())
}
