//! One operation: one hop round a ring of tokio tasks, each awaiting an eventfd that the task before it sets.

use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Clock, Laps, Placement};
use rustix::event::EventfdFlags;
use switch_cost::{Link, RingOfTasks, Signal, Tasks, receive, send};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

type Ends = Link<AsyncFd<Arc<File>>, Arc<File>>;

fn task_eventfd(RingOfTasks { ring, runtime }: RingOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let entered = runtime.enter();
    let events = ring.eventfds(EventfdFlags::NONBLOCK)?.into_iter();
    let events = events.map(|(to, from)| Ok((to, register(from)?)));
    let links = ring.links(events.collect::<Result<_>>()?);
    drop(entered);
    let mut tasks = Tasks::start(runtime, links, pass_on);
    clock.time(ring.hops, |laps| tasks.drive(|driver| drive(driver, laps)))?;
    let (driver, others) = tasks.into_parts();
    send(&driver.to, Signal::End)?;
    others.join()
}

async fn drive(driver: Ends, laps: Laps) -> Result<(Ends, u64)> {
    let mut passed = 0;
    for () in laps {
        send(&driver.to, Signal::Token)?;
        let signal = driver.from.async_io(Interest::READABLE, |event| receive(event)).await?;
        passed += u64::from(signal == Signal::Token);
    }
    Ok((driver, passed))
}

async fn pass_on(link: Ends) -> Result<u64> {
    let mut passed = 0;
    loop {
        let signal = link.from.async_io(Interest::READABLE, |event| receive(event)).await?;
        send(&link.to, signal)?;
        if signal == Signal::End {
            return Ok(passed);
        }
        passed += 1;
    }
}

fn register(event: Arc<File>) -> Result<AsyncFd<Arc<File>>> {
    // SAFETY: the descriptor is the file's own, which the `Arc` keeps open for as long as it is registered, and a file has
    // the same descriptor all its life.
    Ok(unsafe { AsyncFd::register_with_interest(event, Interest::READABLE) }?)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), task_eventfd)
}
