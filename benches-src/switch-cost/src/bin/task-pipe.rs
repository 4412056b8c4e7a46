//! One operation: one hop of a byte round a ring of tokio tasks, each awaiting a pipe that the task before it writes to.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Laps, Placement};
use switch_cost::{Link, RingOfTasks, TOKEN, Tasks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

type Ends = Link<Receiver, Sender>;

fn task_pipe(RingOfTasks { ring, runtime }: RingOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let entered = runtime.enter();
    let pipes = ring.pipes()?.into_iter();
    let pipes = pipes.map(|(to, from)| Ok((Sender::from_owned_fd(to.into())?, Receiver::from_owned_fd(from.into())?)));
    let links = ring.links(pipes.collect::<Result<_>>()?);
    drop(entered);
    let mut tasks = Tasks::start(runtime, links, pass_on);
    clock.time(ring.hops, |laps| tasks.drive(|driver| drive(driver, laps)))?;
    let (driver, others) = tasks.into_parts();
    // The closed end goes round like a token: each task reads the end of its stream and leaves.
    drop(driver);
    others.join()
}

async fn drive(mut driver: Ends, laps: Laps) -> Result<(Ends, u64)> {
    let (mut buffer, mut passed) = ([0], 0);
    for () in laps {
        driver.to.write_all(&TOKEN).await?;
        passed += driver.from.read(&mut buffer).await? as u64;
    }
    Ok((driver, passed))
}

async fn pass_on(mut link: Ends) -> Result<u64> {
    let (mut buffer, mut passed) = ([0], 0);
    while link.from.read(&mut buffer).await? == TOKEN.len() {
        link.to.write_all(&TOKEN).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), task_pipe)
}
