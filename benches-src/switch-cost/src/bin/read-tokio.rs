//! One operation: one read of the next piece of a file in the page cache, by a tokio task that awaits `tokio::fs::File`.

use std::io::SeekFrom;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::cached::{self, Reading};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

fn read_tokio(Parameters { reading, runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let file = cached::file()?;
    let mut reads = 0;
    clock.time(reading.pieces(), |laps| {
        let file = File::from_std(file.try_clone()?);
        reads += runtime.block_on(runtime.spawn(read(file, reading, laps)))??;
        Ok(())
    })?;
    Ok(reads)
}

/// Reads the file from its begin to its end for each lap. `tokio::fs` knows no read at a place, so a lap begins with a seek.
async fn read(mut file: File, reading: Reading, laps: Laps) -> Result<u64> {
    let (mut piece, mut reads) = (reading.buffer(), 0);
    for () in laps {
        file.seek(SeekFrom::Start(0)).await?;
        for place in reading.places() {
            file.read_exact(&mut piece).await?;
            reads += cached::one_if_from(place, &piece);
        }
    }
    Ok(reads)
}

#[derive(Args, Serialize)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    reading: Reading,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), read_tokio)
}
