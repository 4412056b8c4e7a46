//! One operation: one hop round a ring of threads, each blocking in `read` on an eventfd until the thread before it sets it.

use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use rustix::event::EventfdFlags;
use switch_cost::{Link, Ring, Signal, Threads, receive, send};

struct ThreadEventfd {
    driver: Link<Arc<File>>,
    others: Threads,
    hops: u64,
    passed: u64,
}

impl Repeat for ThreadEventfd {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, placement: Placement) -> Result<Self> {
        let (driver, others) = parameters.links(parameters.eventfds(EventfdFlags::empty())?);
        placement.pin_participant(0)?;
        let others = Threads::start(others, placement, pass_on)?;
        Ok(Self { driver, others, hops: parameters.hops, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.hops
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            send(&self.driver.to, Signal::Token)?;
            self.passed += u64::from(receive(&self.driver.from)? == Signal::Token);
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        send(&self.driver.to, Signal::End)?;
        Ok(self.passed + self.others.join()?)
    }
}

fn pass_on(link: Link<Arc<File>>) -> Result<u64> {
    let mut passed = 0;
    loop {
        let signal = receive(&link.from)?;
        send(&link.to, signal)?;
        if signal == Signal::End {
            return Ok(passed);
        }
        passed += 1;
    }
}

fn main() -> ExitCode {
    harness::repeat::<ThreadEventfd>(harness::name!())
}
