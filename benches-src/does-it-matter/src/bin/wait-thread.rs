//! One operation: an empty thread, joined while threads compute two SHA-256 for each CPU.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use ring::digest::{SHA256, digest};
use serde::Serialize;

fn wait_thread(Parameters { bytes }: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    let block: Arc<[u8]> = vec![1; bytes as usize].into();
    let at_once = 2 * thread::available_parallelism()?.get();
    let mut waited = 0;
    clock.time(1, |laps| {
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            let start = |_| {
                let block = block.clone();
                thread::spawn(move || digest(&SHA256, black_box(&block)))
            };
            let threads: Vec<_> = (0..at_once).map(start).collect();
            let asked = Instant::now();
            waited += thread::spawn(|| 1).join().expect("it panicked");
            laps.took(asked.elapsed().as_nanos() as u64);
            for thread in threads {
                thread.join().expect("a computation panicked");
            }
        }
        Ok(())
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
    harness::repeat(harness::name!(), wait_thread)
}
