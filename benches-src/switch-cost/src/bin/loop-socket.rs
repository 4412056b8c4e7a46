//! One operation: one byte written into a socket pair and read out again, by a single thread that walks the whole ring.

use std::io::{Read, Write};
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::{Ring, TOKEN};

fn loop_socket(ring: Ring, _: Placement, clock: Clock) -> Result<u64> {
    let mut pairs = ring.socket_pairs()?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        let mut buffer = [0];
        for () in laps {
            for (to, from) in &mut pairs {
                to.write_all(&TOKEN)?;
                passed += from.read(&mut buffer)? as u64;
            }
        }
        Ok(())
    })?;
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_socket)
}
