//! One operation: one hop of a number round a ring of threads, each blocking on a bounded channel of the standard library with a timeout that does not fire.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Channels, Link, Threads};

/// Longer than any wait.
const PATIENCE: Duration = Duration::from_secs(60);

fn timeout_thread(Channels { ring, capacity }: Channels, placement: Placement, clock: Clock) -> Result<u64> {
    let (driver, others) = ring.links(ring.each(|| sync_channel(capacity as usize)));
    placement.pin_participant(0)?;
    let others = Threads::start(others, placement, pass_on)?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        for () in laps {
            driver.to.send(passed)?;
            driver.from.recv_timeout(PATIENCE)?;
            passed += 1;
        }
        Ok(())
    })?;
    drop(driver);
    Ok(passed + others.join()?)
}

fn pass_on(link: Link<Receiver<u64>, SyncSender<u64>>) -> Result<u64> {
    let mut passed = 0;
    while let Ok(token) = link.from.recv_timeout(PATIENCE) {
        link.to.send(token)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), timeout_thread)
}
