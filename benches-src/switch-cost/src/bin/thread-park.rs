//! One operation: one hop of a permit round a ring of threads, each parked (on a futex) until the thread before it unparks it.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Link, Permit, Ring, Signal, Threads};

fn thread_park(ring: Ring, placement: Placement, clock: Clock) -> Result<u64> {
    let (driver, others) = ring.links(ring.permits());
    placement.pin_participant(0)?;
    driver.from.own();
    let others = Threads::start(others, placement, pass_on)?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        for () in laps {
            driver.to.give(Signal::Token);
            passed += u64::from(driver.from.take() == Signal::Token);
        }
        Ok(())
    })?;
    driver.to.give(Signal::End);
    Ok(passed + others.join()?)
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
    harness::repeat(harness::name!(), thread_park)
}
