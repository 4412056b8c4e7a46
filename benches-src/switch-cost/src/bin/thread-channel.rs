//! One operation: one hop of a number round a ring of threads, each blocking in `recv` on a bounded channel of the standard library.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Channels, Link, Threads};

struct ThreadChannel {
    driver: Link<Receiver<u64>, SyncSender<u64>>,
    others: Threads,
    hops: u64,
    passed: u64,
}

impl Repeat for ThreadChannel {
    type Parameters = Channels;

    fn set_up(parameters: &Channels, placement: Placement) -> Result<Self> {
        let Channels { ring, capacity } = *parameters;
        let (driver, others) = ring.links(ring.each(|| sync_channel(capacity as usize)));
        placement.pin_participant(0)?;
        let others = Threads::start(others, placement, pass_on)?;
        Ok(Self { driver, others, hops: ring.hops, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.hops
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.driver.to.send(self.passed)?;
            self.driver.from.recv()?;
            self.passed += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.driver);
        Ok(self.passed + self.others.join()?)
    }
}

fn pass_on(link: Link<Receiver<u64>, SyncSender<u64>>) -> Result<u64> {
    let mut passed = 0;
    while let Ok(token) = link.from.recv() {
        link.to.send(token)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<ThreadChannel>(harness::name!())
}
