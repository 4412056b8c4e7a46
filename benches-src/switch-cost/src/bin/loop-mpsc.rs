//! One operation: one number sent into tokio's bounded channel and received again, by a single future that walks the whole ring and never waits.

use std::process::ExitCode;

use anyhow::{Context, Result};
use executor::Executor;
use harness::{Clock, Placement};
use switch_cost::Channels;
use tokio::sync::mpsc::channel;

fn loop_mpsc(Channels { ring, capacity }: Channels, _: Placement, clock: Clock) -> Result<u64> {
    let mut channels = ring.each(|| channel(capacity as usize));
    let executor = Executor::new();
    let mut token = 0;
    clock.time(ring.hops, |laps| {
        executor.block_on(async {
            for () in laps {
                for (to, from) in &mut channels {
                    to.send(token + 1).await?;
                    token = from.recv().await.context("its sender is here")?;
                }
            }
            Ok(())
        })
    })?;
    Ok(token)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_mpsc)
}
