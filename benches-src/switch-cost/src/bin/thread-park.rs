//! One operation: one hop of a permit round a ring of threads, each parked (on a futex) until the thread before it unparks it.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, Permit, Ring, Signal, Threads};

struct ThreadPark {
    driver: Link<Arc<Permit>>,
    others: Threads,
    hops: u64,
    passed: u64,
}

impl Repeat for ThreadPark {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, placement: Placement) -> Result<Self> {
        let (driver, others) = parameters.links(parameters.permits());
        placement.pin_participant(0)?;
        driver.from.own();
        let others = Threads::start(others, placement, pass_on)?;
        Ok(Self { driver, others, hops: parameters.hops, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.hops
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.driver.to.give(Signal::Token);
            self.passed += u64::from(self.driver.from.take() == Signal::Token);
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        self.driver.to.give(Signal::End);
        Ok(self.passed + self.others.join()?)
    }
}

fn pass_on(link: Link<Arc<Permit>>) -> Result<u64> {
    link.from.own();
    let mut passed = 0;
    loop {
        let signal = link.from.take();
        link.to.give(signal);
        if signal == Signal::End {
            return Ok(passed);
        }
        passed += 1;
    }
}

fn main() -> ExitCode {
    harness::repeat::<ThreadPark>(harness::name!())
}
