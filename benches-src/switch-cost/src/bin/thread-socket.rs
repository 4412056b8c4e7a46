//! One operation: one hop of a byte round a ring of threads, each blocking in `read` on a socket pair until the thread before it writes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, Ring, STACK_BYTES, TOKEN, links};

struct ThreadSocket {
    driver: Link<UnixStream>,
    others: Vec<JoinHandle<Result<u64>>>,
    laps: u64,
}

impl Repeat for ThreadSocket {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, placement: Placement) -> Result<Self> {
        let mut links = links(parameters.socket_pairs()?).into_iter().enumerate();
        placement.pin_participant(0)?;
        let (_, driver) = links.next().expect("a ring has a driver");
        let others = links.map(|(index, link)| {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn(move || {
                placement.pin_participant(index)?;
                pass_on(link)
            })
        });
        let others = others.collect::<Result<_, _>>()?;
        Ok(Self { driver, others, laps: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.others.len() as u64 + 1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let mut token = TOKEN;
        for () in laps {
            self.driver.to.write_all(&token)?;
            self.driver.from.read_exact(&mut token)?;
            self.laps += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The closed end goes round like a token: each thread reads the end of its stream and leaves.
        drop(self.driver);
        let mut passed = self.laps;
        for thread in self.others {
            passed += thread.join().expect("a participant panicked")?;
        }
        Ok(passed)
    }
}

fn pass_on(mut link: Link<UnixStream>) -> Result<u64> {
    let (mut token, mut passed) = (TOKEN, 0);
    while link.from.read(&mut token)? == token.len() {
        link.to.write_all(&token)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<ThreadSocket>(harness::name!())
}
