//! One operation: one hop of a byte round a ring of processes, each blocking in `read` on a socket
//! pair until the process before it writes.

use std::env;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use harness::{Placement, Report, described};
use resources::reserve_threads;
use resources::tool::elapsed_ns;
use switch_cost::{Link, Ring, TOKEN};

fn process_socket(ring: Ring, placement: Placement, report: Report) -> Result<()> {
    let (mut driver, others) = ring.links(ring.socket_pairs()?);
    let others = start(others, placement)?;
    placement.pin_participant(0)?;
    let mut lap = || -> Result<()> {
        driver.to.write_all(&TOKEN)?;
        Ok(driver.from.read_exact(&mut [0])?)
    };
    // All of them run by the end of it.
    lap()?;
    let laps = HOPS.div_ceil(ring.hops);
    let begun = Instant::now();
    (0..laps).try_for_each(|_| lap())?;
    let elapsed = begun.elapsed();
    report.give(elapsed_ns(elapsed.as_nanos() as f64 / (laps * ring.hops) as f64))?;
    // The closed end goes round like a token: each process reads the end of its stream and leaves.
    drop(driver);
    for mut participant in others {
        let status = participant.wait()?;
        ensure!(status.success(), "a process of the ring ended with {status}");
    }
    Ok(())
}

/// Every other participant is this program once more, with its ends as standard input and output.
fn start(others: Vec<Link<UnixStream>>, placement: Placement) -> Result<Vec<Child>> {
    reserve_threads(others.len())?;
    let (program, mut all) = (env::current_exe()?, Vec::new());
    for Link { place, from, to } in others {
        // A process begins where the one is pinned that starts it.
        placement.pin_participant(place)?;
        let mut participant = Command::new(&program);
        participant.env(PARTICIPANT, "").stdin(OwnedFd::from(from)).stdout(OwnedFd::from(to));
        all.push(participant.spawn().with_context(|| format!("cannot start process {place} of the ring"))?);
    }
    Ok(all)
}

/// The whole of a participant that is not the driver.
fn pass_on() -> Result<()> {
    let mut from = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut to = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = [0];
    while from.read(&mut buffer)? == TOKEN.len() {
        to.write_all(&TOKEN)?;
    }
    Ok(())
}

/// So many are timed, in whole laps.
const HOPS: u64 = 100_000;
/// In the environment of every participant but the driver.
const PARTICIPANT: &str = "PROCESS_SOCKET_PARTICIPANT";

fn main() -> ExitCode {
    if env::var_os(PARTICIPANT).is_some() {
        return pass_on().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let measures = [described("elapsed", "ns", "the mean time of a hop, over all that were timed")];
    harness::once(harness::name!(), &measures, process_socket)
}
