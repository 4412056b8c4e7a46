//! One operation: one hop of a byte round a ring of tokio tasks, each awaiting a socket pair that the task before it writes to.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Laps, Placement, Repeat};
use serde::Serialize;
use switch_cost::{Flavor, Link, Ring, TOKEN, links};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    ring: Ring,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

struct TaskSocket {
    runtime: Runtime,
    driver: Option<Link<UnixStream>>,
    others: Vec<JoinHandle<Result<u64>>>,
    laps: u64,
}

impl Repeat for TaskSocket {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        let links = links(parameters.ring.socket_pairs()?);
        let runtime = parameters.runtime.start(placement)?;
        let entered = runtime.enter();
        let mut links = links.into_iter().map(Link::into_tokio);
        let driver = links.next().transpose()?;
        let others = links.map(|link| Ok(runtime.spawn(pass_on(link?))));
        let others = others.collect::<Result<_>>()?;
        drop(entered);
        Ok(Self { runtime, driver, others, laps: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.others.len() as u64 + 1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        // The driver is a task among tasks: what `block_on` runs directly would sit on a thread that is no worker, and
        // its two hops would cross threads.
        let driver = self.driver.take().expect("the driver comes back from every run");
        let (driver, done) = self.runtime.block_on(self.runtime.spawn(drive(driver, laps)))??;
        self.driver = Some(driver);
        self.laps += done;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The closed end goes round like a token: each task reads the end of its stream and leaves.
        drop(self.driver);
        let mut passed = self.laps;
        for task in self.others {
            passed += self.runtime.block_on(task)??;
        }
        Ok(passed)
    }
}

async fn drive(mut driver: Link<UnixStream>, laps: Laps) -> Result<(Link<UnixStream>, u64)> {
    let (mut token, mut done) = (TOKEN, 0);
    for () in laps {
        driver.to.write_all(&token).await?;
        driver.from.read_exact(&mut token).await?;
        done += 1;
    }
    Ok((driver, done))
}

async fn pass_on(mut link: Link<UnixStream>) -> Result<u64> {
    let (mut token, mut passed) = (TOKEN, 0);
    while link.from.read(&mut token).await? == token.len() {
        link.to.write_all(&token).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<TaskSocket>(harness::name!())
}
