//! One operation: one hop of a byte round a ring of threads, each blocking in `read` on a socket pair until the thread before it writes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, Streams, TOKEN, Threads};

struct ThreadSocket {
    /// The driver's ends of each ring.
    drivers: Vec<Link<UnixStream>>,
    others: Threads,
    parameters: Streams,
    passed: u64,
}

impl Repeat for ThreadSocket {
    type Parameters = Streams;

    fn set_up(parameters: &Streams, placement: Placement) -> Result<Self> {
        let parameters = *parameters;
        let (drivers, others) = parameters.links()?;
        placement.pin_participant(0)?;
        let others = Threads::start(others, placement, move |link| pass_on(link, parameters))?;
        Ok(Self { drivers, others, parameters, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.hops()
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let (mut buffer, mut working_set) = (self.parameters.buffer(), self.parameters.working_set());
        for () in laps {
            for driver in &mut self.drivers {
                working_set.touch();
                driver.to.write_all(&TOKEN)?;
            }
            for driver in &mut self.drivers {
                self.passed += driver.from.read(&mut buffer)? as u64;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The closed end goes round like a token: each thread reads the end of its stream and leaves.
        drop(self.drivers);
        Ok(self.passed + self.others.join()?)
    }
}

fn pass_on(mut link: Link<UnixStream>, parameters: Streams) -> Result<u64> {
    let (mut buffer, mut working_set) = (parameters.buffer(), parameters.working_set());
    let mut passed = 0;
    while link.from.read(&mut buffer)? == TOKEN.len() {
        working_set.touch();
        link.to.write_all(&TOKEN)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<ThreadSocket>(harness::name!())
}
