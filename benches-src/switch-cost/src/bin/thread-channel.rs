//! One operation: one hop of a number round a ring of threads, each blocking in `recv` on a bounded channel of the standard library.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Channels, Link, STACK_BYTES, links};

struct ThreadChannel {
    driver: Link<Receiver<u64>, SyncSender<u64>>,
    others: Vec<JoinHandle<Result<()>>>,
    token: u64,
}

impl Repeat for ThreadChannel {
    type Parameters = Channels;

    fn set_up(parameters: &Channels, placement: Placement) -> Result<Self> {
        let mut links = links(parameters.each(sync_channel)).into_iter().enumerate();
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
        Ok(Self { driver, others, token: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.others.len() as u64 + 1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.driver.to.send(self.token + 1)?;
            self.token = self.driver.from.recv()?;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.driver);
        for thread in self.others {
            thread.join().expect("a participant panicked")?;
        }
        // Everybody who passed the token on added one to it.
        Ok(self.token)
    }
}

fn pass_on(link: Link<Receiver<u64>, SyncSender<u64>>) -> Result<()> {
    while let Ok(token) = link.from.recv() {
        link.to.send(token + 1)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<ThreadChannel>(harness::name!())
}
