//! One operation: one hop of a byte round a ring of tokio tasks, each awaiting a socket pair that the task before it writes to.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Laps, Placement};
use switch_cost::{Link, RingOfTasks, TOKEN, Tasks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

fn task_socket(RingOfTasks { ring, runtime }: RingOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let (driver, others) = ring.links(ring.socket_pairs()?);
    let entered = runtime.enter();
    let others = others.into_iter().map(Link::into_tokio).collect::<Result<_>>()?;
    let links = (driver.into_tokio()?, others);
    drop(entered);
    let mut tasks = Tasks::start(runtime, links, pass_on);
    clock.time(ring.hops, |laps| tasks.drive(|driver| drive(driver, laps)))?;
    let (driver, others) = tasks.into_parts();
    drop(driver);
    others.join()
}

async fn drive(mut driver: Link<UnixStream>, laps: Laps) -> Result<(Link<UnixStream>, u64)> {
    let (mut buffer, mut passed) = ([0], 0);
    for () in laps {
        driver.to.write_all(&TOKEN).await?;
        passed += driver.from.read(&mut buffer).await? as u64;
    }
    Ok((driver, passed))
}

async fn pass_on(mut link: Link<UnixStream>) -> Result<u64> {
    let (mut buffer, mut passed) = ([0], 0);
    while link.from.read(&mut buffer).await? == TOKEN.len() {
        link.to.write_all(&TOKEN).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), task_socket)
}
