//! One operation: one `yield_now` by one of several tokio tasks that do nothing else.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Clock, Placement};
use switch_cost::CrowdOfTasks;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::yield_now;

fn yield_task(CrowdOfTasks { crowd, runtime }: CrowdOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let (end, mut ends) = unbounded_channel();
    let start_member = |_| {
        let (start, mut started) = unbounded_channel();
        let end = end.clone();
        runtime.spawn(async move {
            while let Some(()) = started.recv().await {
                let mut yielded = 0;
                for _ in 0..crowd.each {
                    yield_now().await;
                    yielded += 1;
                }
                end.send(yielded).expect("the driver waits");
            }
        });
        start
    };
    let starts: Vec<_> = (0..crowd.members).map(start_member).collect();
    // The members alone have it now, so that the driver hears of it when all of them have left.
    drop(end);
    let mut yielded = 0;
    clock.time(crowd.members * crowd.each, |laps| {
        runtime.block_on(async {
            for () in laps {
                starts.iter().try_for_each(|start| start.send(()))?;
                for _ in &starts {
                    yielded += ends.recv().await.context("a member left")?;
                }
            }
            Ok(())
        })
    })?;
    Ok(yielded)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), yield_task)
}
