//! One operation: one hop of a number round a ring of tokio tasks, each awaiting tokio's bounded channel with a timeout that does not fire.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::{Channels, Link, Tasks};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

type Ends = Link<Receiver<u64>, Sender<u64>>;

/// Longer than any wait.
const PATIENCE: Duration = Duration::from_secs(60);

fn timeout_task(parameters: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let Channels { ring, capacity } = parameters.channels;
    let links = ring.links(ring.each(|| channel(capacity as usize)));
    let runtime = parameters.runtime.builder(placement)?.enable_all().build()?;
    let mut tasks = Tasks::start(runtime, links, pass_on);
    clock.time(ring.hops, |laps| tasks.drive(|driver| drive(driver, laps)))?;
    let (driver, others) = tasks.into_parts();
    drop(driver);
    others.join()
}

async fn drive(mut driver: Ends, laps: Laps) -> Result<(Ends, u64)> {
    let mut passed = 0;
    for () in laps {
        driver.to.send(passed).await?;
        timeout(PATIENCE, driver.from.recv()).await?.context("a participant left")?;
        passed += 1;
    }
    Ok((driver, passed))
}

async fn pass_on(mut link: Ends) -> Result<u64> {
    let mut passed = 0;
    while let Some(token) = timeout(PATIENCE, link.from.recv()).await? {
        link.to.send(token).await?;
        passed += 1;
    }
    Ok(passed)
}

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    channels: Channels,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), timeout_task)
}
