//! One operation: one SHA-256 of 4 KiB, by ring.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use ring::digest::{SHA256, digest};

fn cost_sha(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let block: Vec<u8> = (0..4096).map(|index| (index % 251) as u8).collect();
    let expected = digest(&SHA256, &block);
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            let digest = digest(&SHA256, black_box(&block));
            done += u64::from(digest.as_ref() == expected.as_ref());
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_sha)
}
