//! One operation: one permit given and taken again, by a single thread that walks the whole ring and never sleeps.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Ring, Signal};

fn loop_park(ring: Ring, _: Placement, clock: Clock) -> Result<u64> {
    let permits = ring.permits();
    permits.iter().for_each(|(_, from)| from.own());
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        let mut taken = 0;
        for () in laps {
            for (to, from) in &permits {
                to.give(Signal::Token);
                taken += u64::from(from.take() == Signal::Token);
            }
        }
        passed += taken;
        Ok(())
    })?;
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_park)
}
