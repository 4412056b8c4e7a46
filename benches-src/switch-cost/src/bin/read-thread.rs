//! One operation: one read of a piece of a file in the page cache, by a thread.

use std::os::unix::fs::FileExt;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::cached::{self, Reading};

fn read_thread(reading: Reading, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let (file, mut piece) = (cached::file()?, reading.buffer());
    let mut reads = 0;
    clock.time(reading.pieces(), |laps| {
        for () in laps {
            for place in reading.places() {
                file.read_exact_at(&mut piece, place)?;
                reads += cached::one_if_from(place, &piece);
            }
        }
        Ok(())
    })?;
    Ok(reads)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), read_thread)
}
