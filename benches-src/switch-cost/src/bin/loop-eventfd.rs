//! One operation: one eventfd set and read again, by a single thread that walks the whole ring.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use rustix::event::EventfdFlags;
use switch_cost::{Ring, Signal, receive, send};

fn loop_eventfd(ring: Ring, _: Placement, clock: Clock) -> Result<u64> {
    let events = ring.eventfds(EventfdFlags::empty())?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        for () in laps {
            for (to, from) in &events {
                send(to, Signal::Token)?;
                passed += u64::from(receive(from)? == Signal::Token);
            }
        }
        Ok(())
    })?;
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_eventfd)
}
