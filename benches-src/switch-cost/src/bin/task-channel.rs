//! One operation: one hop of a number round a ring of tokio tasks, each awaiting tokio's bounded channel.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Laps, Placement, Repeat};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::{Channels, Link, Tasks};
use tokio::sync::mpsc::{Receiver, Sender, channel};

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    channels: Channels,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

type Ends = Link<Receiver<u64>, Sender<u64>>;

struct TaskChannel {
    driver: Option<Ends>,
    others: Tasks,
    hops: u64,
    passed: u64,
}

impl Repeat for TaskChannel {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        let Channels { ring, capacity } = parameters.channels;
        let (driver, others) = ring.links(ring.each(|| channel(capacity as usize)));
        let runtime = parameters.runtime.start(placement)?;
        let others = Tasks::start(runtime, others, pass_on);
        Ok(Self { driver: Some(driver), others, hops: ring.hops, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.hops
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let driver = self.driver.take().expect("it comes back from every run");
        let (driver, passed) = self.others.drive(drive(driver, laps))?;
        self.driver = Some(driver);
        self.passed += passed;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.driver);
        Ok(self.passed + self.others.join()?)
    }
}

async fn drive(mut driver: Ends, laps: Laps) -> Result<(Ends, u64)> {
    let mut passed = 0;
    for () in laps {
        driver.to.send(passed).await?;
        driver.from.recv().await.context("a participant left")?;
        passed += 1;
    }
    Ok((driver, passed))
}

async fn pass_on(mut link: Ends) -> Result<u64> {
    let mut passed = 0;
    while let Some(token) = link.from.recv().await {
        link.to.send(token).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<TaskChannel>(harness::name!())
}
