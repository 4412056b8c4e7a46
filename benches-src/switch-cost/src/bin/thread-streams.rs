//! One operation: one hop as in thread-socket, round any number of rings at once, with as much room to read into and as much memory to touch
//! as is asked for.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Link, Streams, TOKEN, Threads};

fn thread_streams(ring: Streams, placement: Placement, clock: Clock) -> Result<u64> {
    let (mut drivers, others) = ring.links()?;
    placement.pin_participant(0)?;
    let others = Threads::start(others, placement, move |link| pass_on(link, ring))?;
    let mut passed = 0;
    clock.time(ring.hops(), |laps| {
        let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
        for () in laps {
            for driver in &mut drivers {
                working_set.touch();
                driver.to.write_all(&TOKEN)?;
            }
            for driver in &mut drivers {
                passed += driver.from.read(&mut buffer)? as u64;
            }
        }
        Ok(())
    })?;
    // The closed end goes round like a token: each thread reads the end of its stream and leaves.
    drop(drivers);
    Ok(passed + others.join()?)
}

fn pass_on(mut link: Link<UnixStream>, ring: Streams) -> Result<u64> {
    let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
    let mut passed = 0;
    while link.from.read(&mut buffer)? == TOKEN.len() {
        working_set.touch();
        link.to.write_all(&TOKEN)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), thread_streams)
}
