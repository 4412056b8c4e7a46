//! One operation: one tokio task spawned by another on the same thread; it ends the first time it is polled, and its creator awaits that.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};
use runtime::Flavor;
use tokio::runtime::Runtime;

struct CostTaskSpawn {
    runtime: Runtime,
    ended: u64,
}

impl Repeat for CostTaskSpawn {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        Ok(Self { runtime: Flavor::Current.start(placement)?, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let creator = self.runtime.spawn(async move {
            let mut ended = 0;
            for () in laps {
                ended += tokio::spawn(async { 1 }).await?;
            }
            anyhow::Ok(ended)
        });
        self.ended += self.runtime.block_on(creator)??;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostTaskSpawn>(harness::name!())
}
