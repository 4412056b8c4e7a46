//! One operation: one order read from JSON of so many bytes and dropped, or written as such into a new buffer.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use does_it_matter::order::Order;
use harness::{Laps, Placement, Repeat};
use serde::Serialize;

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

struct CostJson {
    what: What,
    order: Order,
    json: Vec<u8>,
    done: u64,
}

impl Repeat for CostJson {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, _: Placement) -> Result<Self> {
        let order = Order::of_bytes(7, parameters.bytes as usize);
        Ok(Self { what: parameters.what, json: order.to_json(), order, done: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        match self.what {
            What::Parse => {
                for () in laps {
                    let order = black_box(Order::from_json(black_box(&self.json))?);
                    self.done += u64::from(order.items.len() == self.order.items.len());
                }
            }
            What::Write => {
                for () in laps {
                    let json = black_box(black_box(&self.order).to_json());
                    self.done += u64::from(json.len() == self.json.len());
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.done)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostJson>(harness::name!())
}
