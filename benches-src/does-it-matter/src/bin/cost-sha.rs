//! One operation: one SHA-256 of 4 KiB, by ring.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};
use ring::digest::{Digest, SHA256, digest};

struct CostSha {
    block: Vec<u8>,
    expected: Digest,
    done: u64,
}

impl Repeat for CostSha {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        let block: Vec<u8> = (0..4096).map(|index| (index % 251) as u8).collect();
        Ok(Self { expected: digest(&SHA256, &block), block, done: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            let digest = digest(&SHA256, black_box(&self.block));
            self.done += u64::from(digest.as_ref() == self.expected.as_ref());
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.done)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostSha>(harness::name!())
}
