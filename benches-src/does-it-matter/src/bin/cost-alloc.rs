//! One operation: one allocation of so many bytes, each of them written once, and its release.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Laps, Placement, Repeat};
use serde::Serialize;

#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    /// Bytes of the allocation
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    bytes: u64,
}

struct CostAlloc {
    bytes: usize,
    done: u64,
}

impl Repeat for CostAlloc {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, _: Placement) -> Result<Self> {
        Ok(Self { bytes: parameters.bytes as usize, done: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            let block = black_box(vec![1_u8; black_box(self.bytes)]);
            self.done += u64::from(block[self.bytes - 1]);
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.done)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostAlloc>(harness::name!())
}
