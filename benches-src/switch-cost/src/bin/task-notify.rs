//! One operation: one hop of a permit round a ring of tokio tasks, each awaiting a `Notify` until the task before it notifies it.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use harness::{Clock, Laps, Placement};
use switch_cost::{Link, RingOfTasks, Tasks};
use tokio::sync::Notify;

type Ends = Link<Arc<Notify>>;

fn task_notify(RingOfTasks { ring, runtime }: RingOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let both_ends = |permit: Arc<Notify>| (permit.clone(), permit);
    let links = ring.links(ring.each(|| both_ends(Arc::default())));
    // A permit has nothing to say, so that the end stands beside the ring.
    let ended = Arc::<AtomicBool>::default();
    let mut tasks = Tasks::start(runtime.start(placement)?, links, |link| pass_on(link, ended.clone()));
    clock.time(ring.hops, |laps| tasks.drive(|driver| drive(driver, laps)))?;
    let (driver, others) = tasks.into_parts();
    ended.store(true, Ordering::Relaxed);
    driver.to.notify_one();
    others.join()
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
        // Before the permit goes on: the driver may end the ring as soon as it has come round.
        let is_end = ended.load(Ordering::Relaxed);
        link.to.notify_one();
        if is_end {
            return Ok(passed);
        }
        passed += 1;
    }
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), task_notify)
}
