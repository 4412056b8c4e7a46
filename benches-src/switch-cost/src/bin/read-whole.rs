//! One operation: one read of a piece of a file in the page cache, by a tokio task that awaits one `spawn_blocking` around all reads of the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::cached::{self, Reading};
use tokio::task::spawn_blocking;

fn read_whole(Parameters { reading, runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let file = Arc::new(cached::file()?);
    let mut reads = 0;
    clock.time(reading.pieces(), |laps| {
        reads += runtime.block_on(runtime.spawn(read(file.clone(), reading, laps)))??;
        Ok(())
    })?;
    Ok(reads)
}

async fn read(file: Arc<File>, reading: Reading, laps: Laps) -> Result<u64> {
    let (mut piece, mut reads) = (reading.buffer(), 0);
    for () in laps {
        let file = file.clone();
        let read = spawn_blocking(move || {
            let mut reads = 0;
            for place in reading.places() {
                file.read_exact_at(&mut piece, place)?;
                reads += cached::one_if_from(place, &piece);
            }
            io::Result::Ok((piece, reads))
        });
        let (again, read) = read.await??;
        piece = again;
        reads += read;
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
    harness::repeat(harness::name!(), read_whole)
}
