//! One operation: one allocation of so many bytes, each of them written once, and its release.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use serde::Serialize;

fn cost_alloc(parameters: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    let bytes = parameters.bytes as usize;
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            let block = black_box(vec![1_u8; black_box(bytes)]);
            done += u64::from(block[bytes - 1]);
        }
        Ok(())
    })?;
    Ok(done)
}

#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    /// Bytes of the allocation
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    bytes: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_alloc)
}
