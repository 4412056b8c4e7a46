//! One operation: two SHA-256 for each CPU, all at once, by a pool of a thread for each CPU.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::Args;
use crossbeam_channel::unbounded;
use harness::{Clock, Placement};
use ring::digest::{SHA256, digest};
use serde::Serialize;

fn compute_pool(Parameters { bytes }: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    let block: Arc<[u8]> = vec![1; bytes as usize].into();
    let (expected, cpus) = (digest(&SHA256, &block), thread::available_parallelism()?.get());
    let ((ask, asked), (answer, answers)) = (unbounded(), unbounded());
    for _ in 0..cpus {
        let (block, asked, answer) = (block.clone(), asked.clone(), answer.clone());
        thread::spawn(move || asked.iter().try_for_each(|()| answer.send(digest(&SHA256, black_box(&block)))));
    }
    let mut computed = 0;
    clock.time(1, |laps| {
        for () in laps {
            (0..2 * cpus).try_for_each(|_| ask.send(()))?;
            for digest in answers.iter().take(2 * cpus) {
                computed += u64::from(digest.as_ref() == expected.as_ref());
            }
        }
        Ok(())
    })?;
    Ok(computed / (2 * cpus as u64))
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Bytes that each computation goes over
    #[arg(long, default_value_t = 4 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    bytes: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), compute_pool)
}
