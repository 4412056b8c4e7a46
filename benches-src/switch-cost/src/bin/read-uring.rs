//! One operation: one read of a piece of a file in the page cache, by a thread that hands reads to io_uring and waits for them.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use harness::{Clock, Placement, Unavailable};
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use serde::Serialize;
use switch_cost::cached::{self, Reading};

fn read_uring(Parameters { reading, at_once }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let file = cached::file()?;
    let mut uring = queue()?;
    // Never freed, since the kernel may write to it as long as a read is under way.
    let pieces: &mut [Vec<u8>] = vec![reading.buffer(); at_once as usize].leak();
    let places: Vec<_> = reading.places().collect();
    let mut reads = 0;
    clock.time(reading.pieces(), |laps| {
        for () in laps {
            for places in places.chunks(pieces.len()) {
                reads += read_at_once(&mut uring, &file, places, pieces)?;
            }
        }
        Ok(())
    })?;
    Ok(reads)
}

fn read_at_once(uring: &mut IoUring, file: &File, places: &[u64], pieces: &mut [Vec<u8>]) -> Result<u64> {
    for (place, piece) in places.iter().zip(&mut *pieces) {
        let read = opcode::Read::new(Fd(file.as_raw_fd()), piece.as_mut_ptr(), piece.len() as u32);
        // SAFETY: the kernel writes to a piece that is never freed, and that nobody looks at until the read has ended; it holds the file
        // open for itself.
        unsafe { uring.submission().push(&read.offset(*place).build()) }?;
    }
    uring.submit_and_wait(places.len())?;
    let mut ended = 0;
    for read in uring.completion() {
        ensure!(read.result() == pieces[0].len() as i32, "a read of {} ended with {}", pieces[0].len(), read.result());
        ended += 1;
    }
    ensure!(ended == places.len(), "{ended} of {} reads have ended", places.len());
    Ok(places.iter().zip(pieces).map(|(place, piece)| cached::one_if_from(*place, piece)).sum())
}

/// One with room for all that is submitted at once.
fn queue() -> Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    builder.build(MOST_AT_ONCE as u32).map_err(|error| {
        Unavailable::because(format!("io_uring with SINGLE_ISSUER and DEFER_TASKRUN was refused: {error}"))
    })
}

const MOST_AT_ONCE: u64 = 256;

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    reading: Reading,
    /// Reads that are submitted together
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MOST_AT_ONCE))]
    at_once: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), read_uring)
}
