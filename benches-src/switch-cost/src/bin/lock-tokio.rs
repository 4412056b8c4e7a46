//! One operation: one lock of tokio's mutex by one of several tasks, one added to the number inside, and one unlock.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use harness::{Clock, Placement};
use switch_cost::CrowdOfTasks;
use tokio::sync::Mutex;
use tokio::sync::mpsc::unbounded_channel;

fn lock_tokio(CrowdOfTasks { crowd, runtime }: CrowdOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let number = Arc::new(Mutex::new(0));
    let (end, mut ends) = unbounded_channel();
    let start_member = |_| {
        let (start, mut started) = unbounded_channel();
        let (end, number) = (end.clone(), number.clone());
        runtime.spawn(async move {
            while let Some(()) = started.recv().await {
                for _ in 0..crowd.each {
                    let mut number = number.lock().await;
                    *number += 1;
                }
                end.send(()).expect("the driver waits");
            }
        });
        start
    };
    let starts: Vec<_> = (0..crowd.members).map(start_member).collect();
    // The members alone have it now, so that the driver hears of it when all of them have left.
    drop(end);
    clock.time(crowd.members * crowd.each, |laps| {
        runtime.block_on(async {
            for () in laps {
                starts.iter().try_for_each(|start| start.send(()))?;
                for _ in &starts {
                    ends.recv().await.context("a member left")?;
                }
            }
            Ok(())
        })
    })?;
    // Had two members ever been inside at once, some of what they added would be missing.
    let added = *number.blocking_lock();
    Ok(added)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), lock_tokio)
}
