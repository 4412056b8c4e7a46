//! One operation: one hop as in thread-socket, round a ring that lies still for a while after each lap. The pause itself is not counted.

use std::hint::spin_loop;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement, monotonic_ns};
use serde::Serialize;
use switch_cost::{Link, Ring, TOKEN, Threads};

fn thread_socket_paused(paused: Paused, placement: Placement, clock: Clock) -> Result<u64> {
    let ring = paused.ring;
    let (mut driver, others) = ring.links(ring.socket_pairs()?);
    placement.pin_participant(0)?;
    let others = Threads::start(others, placement, pass_on)?;
    let mut passed = 0;
    clock.time(ring.hops, |laps| {
        let (mut buffer, mut laps) = ([0], laps.into_iter());
        while laps.next().is_some() {
            let start = monotonic_ns();
            driver.to.write_all(&TOKEN)?;
            passed += driver.from.read(&mut buffer)? as u64;
            let end = monotonic_ns();
            laps.took(end - start);
            while monotonic_ns() < end + 1000 * paused.pause_us {
                spin_loop();
            }
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

#[derive(Args, Serialize)]
struct Paused {
    #[command(flatten)]
    #[serde(flatten)]
    ring: Ring,
    /// How long the ring lies still after each lap, while the driver watches the clock, in microseconds
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pause_us: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), thread_socket_paused)
}
