//! One operation: one hop as in task-socket, round any number of rings at once, with as much room to read into and as much memory to touch
//! as is asked for.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::{Link, Streams, TOKEN, Tasks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

fn task_streams(Parameters { streams: ring, runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let (drivers, others) = ring.links()?;
    let runtime = runtime.start(placement)?;
    let entered = runtime.enter();
    let register = |links: Vec<Link<_>>| links.into_iter().map(Link::into_tokio).collect::<Result<Vec<_>>>();
    let links = (register(drivers)?, register(others)?);
    drop(entered);
    let mut tasks = Tasks::start(runtime, links, |link| pass_on(link, ring));
    clock.time(ring.hops(), |laps| tasks.drive(|drivers| drive(drivers, ring, laps)))?;
    let (drivers, others) = tasks.into_parts();
    // The closed end goes round like a token: each task reads the end of its stream and leaves.
    drop(drivers);
    others.join()
}

/// By the driver's ends of each ring.
async fn drive(mut drivers: Vec<Link<UnixStream>>, ring: Streams, laps: Laps) -> Result<(Vec<Link<UnixStream>>, u64)> {
    let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
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

async fn pass_on(mut link: Link<UnixStream>, ring: Streams) -> Result<u64> {
    let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
    let mut passed = 0;
    while link.from.read(&mut buffer).await? == TOKEN.len() {
        working_set.touch();
        link.to.write_all(&TOKEN).await?;
        passed += 1;
    }
    Ok(passed)
}

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    streams: Streams,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), task_streams)
}
