//! One operation: one round trip of a number between the two tokio tasks of a pair, over channels with room for one, while other pairs do the same.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Clock, Placement};
use switch_cost::CrowdOfTasks;
use tokio::sync::mpsc::{Receiver, Sender, channel, unbounded_channel};

fn pairs_task(CrowdOfTasks { crowd, runtime }: CrowdOfTasks, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let (end, mut ends) = unbounded_channel();
    let start_pair = |_| {
        let (start, mut started) = unbounded_channel();
        let end = end.clone();
        let ((to, asked), (answer, mut from)) = (channel(1), channel(1));
        runtime.spawn(answer_all(asked, answer));
        runtime.spawn(async move {
            while let Some(()) = started.recv().await {
                let mut trips = 0;
                for trip in 1..=crowd.each {
                    to.send(trip).await?;
                    from.recv().await.context("the other of the pair left")?;
                    trips += 1;
                }
                end.send(trips)?;
            }
            anyhow::Ok(())
        });
        start
    };
    let starts: Vec<_> = (0..crowd.members).map(start_pair).collect();
    // The pairs alone have it now, so that the driver hears of it when all of them have left.
    drop(end);
    let mut trips = 0;
    clock.time(crowd.members * crowd.each, |laps| {
        runtime.block_on(async {
            for () in laps {
                starts.iter().try_for_each(|start| start.send(()))?;
                for _ in &starts {
                    trips += ends.recv().await.context("a pair left")?;
                }
            }
            Ok(())
        })
    })?;
    Ok(trips)
}

async fn answer_all(mut asked: Receiver<u64>, answer: Sender<u64>) -> Result<()> {
    while let Some(trip) = asked.recv().await {
        answer.send(trip).await?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), pairs_task)
}
