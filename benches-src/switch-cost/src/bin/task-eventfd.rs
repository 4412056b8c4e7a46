//! One operation: one hop round a ring of tokio tasks, each awaiting an eventfd that the task before it sets.

use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use rustix::event::EventfdFlags;
use switch_cost::{Link, RingOfTasks, Signal, Tasks, receive, send};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

type Ends = Link<AsyncFd<Arc<File>>, Arc<File>>;

struct TaskEventfd {
    driver: Option<Ends>,
    others: Tasks,
    hops: u64,
    passed: u64,
}

impl Repeat for TaskEventfd {
    type Parameters = RingOfTasks;

    fn set_up(parameters: &RingOfTasks, placement: Placement) -> Result<Self> {
        let RingOfTasks { ring, runtime } = *parameters;
        let runtime = runtime.start(placement)?;
        let entered = runtime.enter();
        let events = ring.eventfds(EventfdFlags::NONBLOCK)?.into_iter();
        let events = events.map(|(to, from)| Ok((to, register(from)?)));
        let (driver, others) = ring.links(events.collect::<Result<_>>()?);
        drop(entered);
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
        send(&self.driver.expect("it comes back from every run").to, Signal::End)?;
        Ok(self.passed + self.others.join()?)
    }
}

fn register(event: Arc<File>) -> Result<AsyncFd<Arc<File>>> {
    // SAFETY: the descriptor is the file's own, which the `Arc` keeps open for as long as it is registered, and a file has
    // the same descriptor all its life.
    Ok(unsafe { AsyncFd::register_with_interest(event, Interest::READABLE) }?)
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

fn main() -> ExitCode {
    harness::repeat::<TaskEventfd>(harness::name!())
}
