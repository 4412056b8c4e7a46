//! One operation: one permit given and taken again, by a single thread that walks the whole ring and never sleeps.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Permit, Ring, Signal};

struct LoopPark {
    permits: Vec<(Arc<Permit>, Arc<Permit>)>,
    passed: u64,
}

impl Repeat for LoopPark {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, _: Placement) -> Result<Self> {
        let permits = parameters.permits();
        permits.iter().for_each(|(_, from)| from.own());
        Ok(Self { permits, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.permits.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            for (to, from) in &self.permits {
                to.give(Signal::Token);
                self.passed += u64::from(from.take() == Signal::Token);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.passed)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopPark>(harness::name!())
}
