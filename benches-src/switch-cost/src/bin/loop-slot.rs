//! One operation: one number put into our one-slot channel and taken out again, by a single future that walks the whole ring and never waits.

use std::process::ExitCode;

use anyhow::{Context, Result};
use executor::{Executor, channel};
use harness::{Clock, Placement};
use switch_cost::Ring;

fn loop_slot(ring: Ring, _: Placement, clock: Clock) -> Result<u64> {
    let executor = Executor::new();
    let mut channels = ring.each(channel);
    let mut token = 0;
    clock.time(ring.hops, |laps| {
        executor.block_on(async {
            let channels = &mut channels;
            for () in laps {
                for (to, from) in channels.iter_mut() {
                    to.send(token + 1).await.ok().context("its receiver is here")?;
                    token = from.recv().await.context("its sender is here")?;
                }
            }
            Ok(())
        })
    })?;
    Ok(token)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_slot)
}
