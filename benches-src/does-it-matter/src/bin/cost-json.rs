//! One operation: one order read from JSON of so many bytes and dropped, or written as such into a new buffer.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use does_it_matter::order::Order;
use harness::{Clock, Placement};
use serde::Serialize;

fn cost_json(Parameters { bytes, what }: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    let order = Order::of_bytes(7, bytes as usize);
    let json = order.to_json();
    let mut done = 0;
    clock.time(1, |laps| {
        match what {
            What::Parse => {
                for () in laps {
                    let parsed = black_box(Order::from_json(black_box(&json))?);
                    done += u64::from(parsed.items.len() == order.items.len());
                }
            }
            What::Write => {
                for () in laps {
                    let written = black_box(black_box(&order).to_json());
                    done += u64::from(written.len() == json.len());
                }
            }
        }
        Ok(())
    })?;
    Ok(done)
}

#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    /// Bytes of the JSON, or a few more: an order has whole items
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    bytes: u64,
    /// What is done
    #[arg(long, value_enum, default_value_t)]
    what: What,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// From bytes to a value of the order's own type
    #[default]
    Parse,
    /// From the value to bytes
    Write,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_json)
}
