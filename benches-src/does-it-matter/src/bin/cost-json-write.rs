//! One operation: one order written as JSON of so many bytes, into a new buffer.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use does_it_matter::order::{Bytes, Order};
use harness::{Clock, Placement};

fn cost_json_write(Bytes { bytes }: Bytes, _: Placement, clock: Clock) -> Result<u64> {
    let order = Order::of_bytes(7, bytes as usize);
    let json = order.to_json();
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            let written = black_box(black_box(&order).to_json());
            done += u64::from(written.len() == json.len());
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_json_write)
}
