//! One operation: one hop of a byte round a ring of threads, each blocking in `read` on a socket pair until the thread before it writes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Link, Ring, TOKEN, Threads};

fn thread_socket(ring: Ring, placement: Placement, clock: Clock) -> Result<u64> {
    let (mut driver, others) = ring.links(ring.socket_pairs()?);
    placement.pin_participant(0)?;
    let others = Threads::start(others, placement, pass_on)?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        let mut buffer = [0];
        for () in laps {
            driver.to.write_all(&TOKEN)?;
            passed += driver.from.read(&mut buffer)? as u64;
        }
        Ok(())
    })?;
    // The closed end goes round like a token: each thread reads the end of its stream and leaves.
    drop(driver);
    Ok(passed + others.join()?)
}

fn pass_on(mut link: Link<UnixStream>) -> Result<u64> {
    let (mut buffer, mut passed) = ([0], 0);
    while link.from.read(&mut buffer)? == TOKEN.len() {
        link.to.write_all(&TOKEN)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), thread_socket)
}
