//! One operation: one hop of a byte round a ring of threads, each blocking in `read` on a pipe until the thread before it writes.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, Ring, TOKEN, Threads};

type Ends = Link<PipeReader, PipeWriter>;

struct ThreadPipe {
    driver: Ends,
    others: Threads,
    hops: u64,
    passed: u64,
}

impl Repeat for ThreadPipe {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, placement: Placement) -> Result<Self> {
        let (driver, others) = parameters.links(parameters.pipes()?);
        placement.pin_participant(0)?;
        let others = Threads::start(others, placement, pass_on)?;
        Ok(Self { driver, others, hops: parameters.hops, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.hops
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let mut buffer = [0];
        for () in laps {
            self.driver.to.write_all(&TOKEN)?;
            self.passed += self.driver.from.read(&mut buffer)? as u64;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The closed end goes round like a token: each thread reads the end of its stream and leaves.
        drop(self.driver);
        Ok(self.passed + self.others.join()?)
    }
}

fn pass_on(mut link: Ends) -> Result<u64> {
    let (mut buffer, mut passed) = ([0], 0);
    while link.from.read(&mut buffer)? == TOKEN.len() {
        link.to.write_all(&TOKEN)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<ThreadPipe>(harness::name!())
}
