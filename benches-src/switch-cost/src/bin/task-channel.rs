//! One operation: one hop of a number round a ring of tokio tasks, each awaiting tokio's bounded channel.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Laps, Placement, Repeat};
use serde::Serialize;
use switch_cost::{Channels, Flavor, Link, links};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    channels: Channels,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

struct TaskChannel {
    runtime: Runtime,
    driver: Option<Link<Receiver<u64>, Sender<u64>>>,
    others: Vec<JoinHandle<Result<()>>>,
    token: u64,
}

impl Repeat for TaskChannel {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        let runtime = parameters.runtime.start(placement)?;
        let mut links = links(parameters.channels.each(|capacity| channel(capacity))).into_iter();
        let driver = links.next();
        let others = links.map(|link| runtime.spawn(pass_on(link))).collect();
        Ok(Self { runtime, driver, others, token: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.others.len() as u64 + 1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let driver = self.driver.take().expect("the driver comes back from every run");
        let (driver, token) = self.runtime.block_on(self.runtime.spawn(drive(driver, self.token, laps)))??;
        self.driver = Some(driver);
        self.token = token;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.driver);
        for task in self.others {
            self.runtime.block_on(task)??;
        }
        // Everybody who passed the token on added one to it.
        Ok(self.token)
    }
}

type Ends = Link<Receiver<u64>, Sender<u64>>;

async fn drive(mut driver: Ends, mut token: u64, laps: Laps) -> Result<(Ends, u64)> {
    for () in laps {
        driver.to.send(token + 1).await?;
        token = driver.from.recv().await.context("a participant left")?;
    }
    Ok((driver, token))
}

async fn pass_on(mut link: Ends) -> Result<()> {
    while let Some(token) = link.from.recv().await {
        link.to.send(token + 1).await?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<TaskChannel>(harness::name!())
}
