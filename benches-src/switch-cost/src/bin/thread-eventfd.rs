//! One operation: one hop round a ring of threads, each blocking in `read` on an eventfd until the thread before it sets it.

use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Clock, Placement};
use rustix::event::EventfdFlags;
use switch_cost::{Link, Ring, Signal, Threads, receive, send};

fn thread_eventfd(ring: Ring, placement: Placement, clock: Clock) -> Result<u64> {
    let (driver, others) = ring.links(ring.eventfds(EventfdFlags::empty())?);
    placement.pin_participant(0)?;
    let others = Threads::start(others, placement, pass_on)?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        for () in laps {
            send(&driver.to, Signal::Token)?;
            passed += u64::from(receive(&driver.from)? == Signal::Token);
        }
        Ok(())
    })?;
    send(&driver.to, Signal::End)?;
    Ok(passed + others.join()?)
}

fn pass_on(link: Link<Arc<File>>) -> Result<u64> {
    let mut passed = 0;
    loop {
        let signal = receive(&link.from)?;
        send(&link.to, signal)?;
        if signal == Signal::End {
            return Ok(passed);
        }
        passed += 1;
    }
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), thread_eventfd)
}
