//! One operation: two SHA-256 of so many bytes, by ring, one after the other in a single thread.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use ring::digest::{SHA256, digest};
use serde::Serialize;

fn compute_loop(Parameters { bytes }: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    let block = vec![1; bytes as usize];
    let expected = digest(&SHA256, &block);
    let mut computed = 0;
    clock.time(1, |laps| {
        for () in laps {
            for _ in 0..2 {
                let digest = digest(&SHA256, black_box(&block));
                computed += u64::from(digest.as_ref() == expected.as_ref());
            }
        }
        Ok(())
    })?;
    Ok(computed / 2)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Bytes that each computation goes over
    #[arg(long, default_value_t = 4 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    bytes: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), compute_loop)
}
