//! One operation: an empty task, awaited while `spawn_blocking` runs two SHA-256 for each CPU.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use ring::digest::{SHA256, digest};
use runtime::Flavor;
use serde::Serialize;

fn wait_blocking(Parameters { bytes }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = Flavor::Multi.start(placement)?;
    let block: Arc<[u8]> = vec![1; bytes as usize].into();
    let at_once = 2 * thread::available_parallelism()?.get();
    let mut waited = 0;
    clock.time(1, |laps| {
        let mut laps = laps.into_iter();
        // By no worker, like what comes from outside: a worker runs its own newest task first.
        runtime.block_on(async {
            while laps.next().is_some() {
                let start = |_| {
                    let block = block.clone();
                    tokio::task::spawn_blocking(move || digest(&SHA256, black_box(&block)))
                };
                let calls: Vec<_> = (0..at_once).map(start).collect();
                let asked = Instant::now();
                waited += tokio::spawn(async { 1 }).await?;
                laps.took(asked.elapsed().as_nanos() as u64);
                for call in calls {
                    call.await?;
                }
            }
            Ok(())
        })
    })?;
    Ok(waited)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Bytes that each computation goes over
    #[arg(long, default_value_t = 4 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    bytes: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), wait_blocking)
}
