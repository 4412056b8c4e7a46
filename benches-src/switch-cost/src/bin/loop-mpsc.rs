//! One operation: one number sent into tokio's bounded channel and received again, by a single future that walks the whole ring and never waits.

use std::process::ExitCode;

use anyhow::{Context, Result};
use executor::Executor;
use harness::{Laps, Placement, Repeat};
use switch_cost::Channels;
use tokio::sync::mpsc::{Receiver, Sender, channel};

struct LoopMpsc {
    executor: Executor,
    channels: Vec<(Sender<u64>, Receiver<u64>)>,
    token: u64,
}

impl Repeat for LoopMpsc {
    type Parameters = Channels;

    fn set_up(parameters: &Channels, _: Placement) -> Result<Self> {
        let channels = parameters.ring.each(|| channel(parameters.capacity as usize));
        Ok(Self { executor: Executor::new(), channels, token: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.channels.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        self.executor.block_on(async {
            for () in laps {
                for (to, from) in &mut self.channels {
                    to.send(self.token + 1).await?;
                    self.token = from.recv().await.context("its sender is here")?;
                }
            }
            Ok(())
        })
    }

    fn finish(self) -> Result<u64> {
        Ok(self.token)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopMpsc>(harness::name!())
}
