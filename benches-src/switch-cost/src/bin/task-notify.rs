//! One operation: one hop of a permit round a ring of tokio tasks, each awaiting a `Notify` until the task before it notifies it.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Link, RingOfTasks, Tasks};
use tokio::sync::Notify;

type Ends = Link<Arc<Notify>>;

struct TaskNotify {
    driver: Option<Ends>,
    others: Tasks,
    /// A permit has nothing to say, so that the end stands beside the ring.
    ended: Arc<AtomicBool>,
    hops: u64,
    passed: u64,
}

impl Repeat for TaskNotify {
    type Parameters = RingOfTasks;

    fn set_up(parameters: &RingOfTasks, placement: Placement) -> Result<Self> {
        let RingOfTasks { ring, runtime } = *parameters;
        let both_ends = |permit: Arc<Notify>| (permit.clone(), permit);
        let (driver, others) = ring.links(ring.each(|| both_ends(Arc::default())));
        let ended = Arc::<AtomicBool>::default();
        let others = Tasks::start(runtime.start(placement)?, others, |link| pass_on(link, ended.clone()));
        Ok(Self { driver: Some(driver), others, ended, hops: ring.hops, passed: 0 })
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
        self.ended.store(true, Ordering::Relaxed);
        self.driver.expect("it comes back from every run").to.notify_one();
        Ok(self.passed + self.others.join()?)
    }
}

async fn drive(driver: Ends, laps: Laps) -> Result<(Ends, u64)> {
    let mut passed = 0;
    for () in laps {
        driver.to.notify_one();
        driver.from.notified().await;
        passed += 1;
    }
    Ok((driver, passed))
}

async fn pass_on(link: Ends, ended: Arc<AtomicBool>) -> Result<u64> {
    let mut passed = 0;
    loop {
        link.from.notified().await;
        link.to.notify_one();
        if ended.load(Ordering::Relaxed) {
            return Ok(passed);
        }
        passed += 1;
    }
}

fn main() -> ExitCode {
    harness::repeat::<TaskNotify>(harness::name!())
}
