//! One operation: one hop as in thread-socket, round a ring that lies still for a while after each lap. The pause itself is not counted.

use std::hint::spin_loop;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Laps, Placement, Repeat, monotonic_ns};
use serde::Serialize;
use switch_cost::{Link, Streams, TOKEN, Threads};

#[derive(Args, Serialize, Clone, Copy)]
struct Paused {
    #[command(flatten)]
    #[serde(flatten)]
    streams: Streams,
    /// How long the ring lies still after each lap, while the driver watches the clock, in microseconds
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pause_us: u64,
}

struct ThreadSocketPaused {
    /// The driver's ends of each ring.
    drivers: Vec<Link<UnixStream>>,
    others: Threads,
    parameters: Paused,
    passed: u64,
}

impl Repeat for ThreadSocketPaused {
    type Parameters = Paused;

    fn set_up(parameters: &Paused, placement: Placement) -> Result<Self> {
        let parameters = *parameters;
        let (drivers, others) = parameters.streams.links()?;
        placement.pin_participant(0)?;
        let others = Threads::start(others, placement, move |link| pass_on(link, parameters.streams))?;
        Ok(Self { drivers, others, parameters, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.streams.hops()
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let (mut buffer, mut working_set) = (self.parameters.streams.buffer(), self.parameters.streams.working_set());
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            let start = monotonic_ns();
            for driver in &mut self.drivers {
                working_set.touch();
                driver.to.write_all(&TOKEN)?;
            }
            for driver in &mut self.drivers {
                self.passed += driver.from.read(&mut buffer)? as u64;
            }
            let end = monotonic_ns();
            laps.took(end - start);
            while monotonic_ns() < end + 1000 * self.parameters.pause_us {
                spin_loop();
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The closed end goes round like a token: each thread reads the end of its stream and leaves.
        drop(self.drivers);
        Ok(self.passed + self.others.join()?)
    }
}

fn pass_on(mut link: Link<UnixStream>, parameters: Streams) -> Result<u64> {
    let (mut buffer, mut working_set) = (parameters.buffer(), parameters.working_set());
    let mut passed = 0;
    while link.from.read(&mut buffer)? == TOKEN.len() {
        working_set.touch();
        link.to.write_all(&TOKEN)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<ThreadSocketPaused>(harness::name!())
}
