//! One operation: one hop as in thread-socket, round a ring that lies still for a while after each lap. The pause itself is not counted.

use std::hint::spin_loop;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement, monotonic_ns};
use serde::Serialize;
use switch_cost::{Link, Streams, TOKEN, Threads};

fn thread_socket_paused(paused: Paused, placement: Placement, clock: Clock) -> Result<u64> {
    let ring = paused.streams;
    let (mut drivers, others) = ring.links()?;
    placement.pin_participant(0)?;
    let others = Threads::start(others, placement, move |link| pass_on(link, ring))?;
    let mut passed = 0;
    clock.time(ring.hops(), |laps| {
        let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            let start = monotonic_ns();
            for driver in &mut drivers {
                working_set.touch();
                driver.to.write_all(&TOKEN)?;
            }
            for driver in &mut drivers {
                passed += driver.from.read(&mut buffer)? as u64;
            }
            let end = monotonic_ns();
            laps.took(end - start);
            while monotonic_ns() < end + 1000 * paused.pause_us {
                spin_loop();
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

#[derive(Args, Serialize)]
struct Paused {
    #[command(flatten)]
    #[serde(flatten)]
    streams: Streams,
    /// How long the ring lies still after each lap, while the driver watches the clock, in microseconds
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pause_us: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), thread_socket_paused)
}
