//! One operation: one hop of a byte round a ring of tokio tasks, each awaiting a socket pair that the task before it writes to.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Laps, Placement, Repeat};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::{Link, Streams, TOKEN, Tasks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    streams: Streams,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

struct TaskSocket {
    /// The driver's ends of each ring.
    drivers: Option<Vec<Link<UnixStream>>>,
    others: Tasks,
    parameters: Streams,
    passed: u64,
}

impl Repeat for TaskSocket {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        let (drivers, others) = parameters.streams.links()?;
        let runtime = parameters.runtime.start(placement)?;
        let entered = runtime.enter();
        let register = |links: Vec<Link<_>>| links.into_iter().map(Link::into_tokio).collect::<Result<Vec<_>>>();
        let (drivers, others) = (register(drivers)?, register(others)?);
        drop(entered);
        let parameters = parameters.streams;
        let others = Tasks::start(runtime, others, |link| pass_on(link, parameters));
        Ok(Self { drivers: Some(drivers), others, parameters, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.hops()
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let drivers = self.drivers.take().expect("they come back from every run");
        let (drivers, passed) = self.others.drive(drive(drivers, self.parameters, laps))?;
        self.drivers = Some(drivers);
        self.passed += passed;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The closed end goes round like a token: each task reads the end of its stream and leaves.
        drop(self.drivers);
        Ok(self.passed + self.others.join()?)
    }
}

async fn drive(
    mut drivers: Vec<Link<UnixStream>>,
    parameters: Streams,
    laps: Laps,
) -> Result<(Vec<Link<UnixStream>>, u64)> {
    let (mut buffer, mut working_set) = (parameters.buffer(), parameters.working_set());
    let mut passed = 0;
    for () in laps {
        for driver in &mut drivers {
            working_set.touch();
            driver.to.write_all(&TOKEN).await?;
        }
        for driver in &mut drivers {
            passed += driver.from.read(&mut buffer).await? as u64;
        }
    }
    Ok((drivers, passed))
}

async fn pass_on(mut link: Link<UnixStream>, parameters: Streams) -> Result<u64> {
    let (mut buffer, mut working_set) = (parameters.buffer(), parameters.working_set());
    let mut passed = 0;
    while link.from.read(&mut buffer).await? == TOKEN.len() {
        working_set.touch();
        link.to.write_all(&TOKEN).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<TaskSocket>(harness::name!())
}
