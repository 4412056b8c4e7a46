//! One operation: one round trip of a number between the two tokio tasks of a pair, over channels with room for one, while other pairs do the same.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Laps, Placement, Repeat};
use switch_cost::{Crowd, CrowdOfTasks};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};

struct PairsTask {
    runtime: Runtime,
    starts: Vec<UnboundedSender<()>>,
    ends: UnboundedReceiver<u64>,
    crowd: Crowd,
    trips: u64,
}

impl Repeat for PairsTask {
    type Parameters = CrowdOfTasks;

    fn set_up(parameters: &CrowdOfTasks, placement: Placement) -> Result<Self> {
        let CrowdOfTasks { crowd, runtime } = *parameters;
        let runtime = runtime.start(placement)?;
        let (end, ends) = unbounded_channel();
        let starts = (0..crowd.members).map(|_| {
            let (start, mut started) = unbounded_channel();
            let end = end.clone();
            let ((to, asked), (answer, mut from)) = (channel(1), channel(1));
            runtime.spawn(answer_all(asked, answer));
            runtime.spawn(async move {
                while let Some(()) = started.recv().await {
                    for trip in 1..=crowd.each {
                        to.send(trip).await?;
                        from.recv().await.context("the other of the pair left")?;
                    }
                    end.send(crowd.each)?;
                }
                anyhow::Ok(())
            });
            start
        });
        let starts = starts.collect();
        Ok(Self { runtime, starts, ends, crowd, trips: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.crowd.members * self.crowd.each
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        self.runtime.block_on(async {
            for () in laps {
                self.starts.iter().try_for_each(|start| start.send(()))?;
                for _ in &self.starts {
                    self.trips += self.ends.recv().await.context("a pair left")?;
                }
            }
            Ok(())
        })
    }

    fn finish(self) -> Result<u64> {
        Ok(self.trips)
    }
}

async fn answer_all(mut asked: Receiver<u64>, answer: Sender<u64>) -> Result<()> {
    while let Some(trip) = asked.recv().await {
        answer.send(trip).await?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<PairsTask>(harness::name!())
}
