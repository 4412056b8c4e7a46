//! One operation: two SHA-256 for each CPU, all at once, each in a thread of its own.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use ring::digest::{SHA256, digest};
use serde::Serialize;

fn compute_thread(Parameters { bytes }: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    let block: Arc<[u8]> = vec![1; bytes as usize].into();
    let (expected, at_once) = (digest(&SHA256, &block), 2 * thread::available_parallelism()?.get() as u64);
    let mut computed = 0;
    clock.time(1, |laps| {
        for () in laps {
            let start = |_| {
                let block = block.clone();
                thread::spawn(move || digest(&SHA256, black_box(&block)))
            };
            let threads: Vec<_> = (0..at_once).map(start).collect();
            for thread in threads {
                let digest = thread.join().expect("a computation panicked");
                computed += u64::from(digest.as_ref() == expected.as_ref());
            }
        }
        Ok(())
    })?;
    Ok(computed / at_once)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Bytes that each computation goes over
    #[arg(long, default_value_t = 4 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    bytes: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), compute_thread)
}
