//! One operation: one byte written and read as in loop-socket, with as much room to read into and as much memory to touch as is asked for.

use std::io::{Read, Write};
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Streams, TOKEN};

fn loop_streams(ring: Streams, _: Placement, clock: Clock) -> Result<u64> {
    let pairs = ring.socket_pairs()?.into_iter();
    let mut pairs: Vec<_> = pairs.map(|(to, from)| (to, from, ring.working_set())).collect();
    let (mut buffer, mut passed) = (ring.buffer(), 0);
    clock.time(ring.hops(), |laps| {
        let (buffer, mut read) = (buffer.as_mut_slice(), 0);
        for () in laps {
            for (to, from, working_set) in &mut pairs {
                to.write_all(&TOKEN)?;
                read += from.read(buffer)? as u64;
                working_set.touch();
            }
        }
        passed += read;
        Ok(())
    })?;
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_streams)
}
