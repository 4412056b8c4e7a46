//! One operation: one `yield_now` by one of several tokio tasks that do nothing else.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Laps, Placement, Repeat};
use switch_cost::{Crowd, CrowdOfTasks};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

struct YieldTask {
    runtime: Runtime,
    starts: Vec<UnboundedSender<()>>,
    ends: UnboundedReceiver<u64>,
    crowd: Crowd,
    yields: u64,
}

impl Repeat for YieldTask {
    type Parameters = CrowdOfTasks;

    fn set_up(parameters: &CrowdOfTasks, placement: Placement) -> Result<Self> {
        let CrowdOfTasks { crowd, runtime } = *parameters;
        let runtime = runtime.start(placement)?;
        let (end, ends) = unbounded_channel();
        let starts = (0..crowd.members).map(|_| {
            let (start, mut started) = unbounded_channel();
            let end = end.clone();
            runtime.spawn(async move {
                while let Some(()) = started.recv().await {
                    for _ in 0..crowd.each {
                        yield_now().await;
                    }
                    end.send(crowd.each).expect("the driver waits");
                }
            });
            start
        });
        let starts = starts.collect();
        Ok(Self { runtime, starts, ends, crowd, yields: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.crowd.members * self.crowd.each
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        self.runtime.block_on(async {
            for () in laps {
                self.starts.iter().try_for_each(|start| start.send(()))?;
                for _ in &self.starts {
                    self.yields += self.ends.recv().await.context("a member left")?;
                }
            }
            Ok(())
        })
    }

    fn finish(self) -> Result<u64> {
        Ok(self.yields)
    }
}

fn main() -> ExitCode {
    harness::repeat::<YieldTask>(harness::name!())
}
