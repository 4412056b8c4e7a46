//! One operation: one number put into our one-slot channel and taken out again, by a single future that walks the whole ring and never waits.

use std::process::ExitCode;

use anyhow::{Context, Result};
use executor::{Executor, Receiver, Sender, channel};
use harness::{Laps, Placement, Repeat};
use switch_cost::Ring;

struct LoopSlot {
    executor: Executor,
    channels: Vec<(Sender<u64>, Receiver<u64>)>,
    token: u64,
}

impl Repeat for LoopSlot {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, _: Placement) -> Result<Self> {
        Ok(Self { executor: Executor::new(), channels: parameters.each(channel), token: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.channels.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        self.executor.block_on(async {
            for () in laps {
                for (to, from) in &mut self.channels {
                    to.send(self.token + 1).await.ok().context("its receiver is here")?;
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
    harness::repeat::<LoopSlot>(harness::name!())
}
