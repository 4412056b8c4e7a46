//! One operation: one hop of a byte round a ring of tokio tasks, each awaiting a pipe that the task before it writes to.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, RingOfTasks, TOKEN, Tasks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

type Ends = Link<Receiver, Sender>;

struct TaskPipe {
    driver: Option<Ends>,
    others: Tasks,
    hops: u64,
    passed: u64,
}

impl Repeat for TaskPipe {
    type Parameters = RingOfTasks;

    fn set_up(parameters: &RingOfTasks, placement: Placement) -> Result<Self> {
        let RingOfTasks { ring, runtime } = *parameters;
        let runtime = runtime.start(placement)?;
        let entered = runtime.enter();
        let pipes = ring.pipes()?.into_iter();
        let pipes =
            pipes.map(|(to, from)| Ok((Sender::from_owned_fd(to.into())?, Receiver::from_owned_fd(from.into())?)));
        let (driver, others) = ring.links(pipes.collect::<Result<_>>()?);
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
        // The closed end goes round like a token: each task reads the end of its stream and leaves.
        drop(self.driver);
        Ok(self.passed + self.others.join()?)
    }
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
    harness::repeat::<TaskPipe>(harness::name!())
}
