//! One operation: one hop of a number round a ring of tasks on our executor, each awaiting our one-slot channel.

use std::process::ExitCode;

use anyhow::{Context, Result};
use executor::{Executor, Receiver, Sender, channel};
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, Ring};

struct ExecutorChannel {
    executor: Executor,
    driver: Link<Receiver<u64>, Sender<u64>>,
    hops: u64,
    token: u64,
}

impl Repeat for ExecutorChannel {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, placement: Placement) -> Result<Self> {
        placement.pin_participant(0)?;
        let executor = Executor::new();
        let (driver, others) = parameters.links(parameters.each(channel));
        others.into_iter().for_each(|link| executor.spawn(pass_on(link)));
        Ok(Self { executor, driver, hops: parameters.hops, token: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.hops
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        self.executor.block_on(async {
            for () in laps {
                self.driver.to.send(self.token + 1).await.ok().context("a participant left")?;
                self.token = self.driver.from.recv().await.context("a participant left")?;
            }
            Ok(())
        })
    }

    fn finish(self) -> Result<u64> {
        // Everybody who passed the token on added one to it.
        Ok(self.token)
    }
}

async fn pass_on(mut link: Link<Receiver<u64>, Sender<u64>>) {
    while let Some(token) = link.from.recv().await {
        if link.to.send(token + 1).await.is_err() {
            break;
        }
    }
}

fn main() -> ExitCode {
    harness::repeat::<ExecutorChannel>(harness::name!())
}
