//! One operation: two SHA-256 for each CPU, all at once, each in a tokio task that awaits nothing.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use ring::digest::{SHA256, digest};
use runtime::Flavor;
use serde::Serialize;

fn compute_task(Parameters { bytes }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = Flavor::Multi.start(placement)?;
    let block: Arc<[u8]> = vec![1; bytes as usize].into();
    let (expected, at_once) = (digest(&SHA256, &block), 2 * thread::available_parallelism()?.get() as u64);
    let mut computed = 0;
    clock.time(1, |laps| {
        runtime.block_on(async {
            for () in laps {
                let start = |_| {
                    let block = block.clone();
                    tokio::spawn(async move { digest(&SHA256, black_box(&block)) })
                };
                let tasks: Vec<_> = (0..at_once).map(start).collect();
                for task in tasks {
                    computed += u64::from(task.await?.as_ref() == expected.as_ref());
                }
            }
            Ok(())
        })
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
    harness::repeat(harness::name!(), compute_task)
}
