//! One operation: one number sent into a bounded channel of the standard library and received again, by a single thread that walks the whole ring.

use std::process::ExitCode;
use std::sync::mpsc::sync_channel;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::Channels;

fn loop_channel(Channels { ring, capacity }: Channels, _: Placement, clock: Clock) -> Result<u64> {
    let channels = ring.each(|| sync_channel(capacity as usize));
    let mut token = 0;
    clock.time(ring.hops, |laps| {
        for () in laps {
            for (to, from) in &channels {
                to.send(token + 1)?;
                token = from.recv()?;
            }
        }
        Ok(())
    })?;
    Ok(token)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_channel)
}
