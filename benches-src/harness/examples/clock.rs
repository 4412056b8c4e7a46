//! One operation: two readings of the monotonic clock. The smallest program on the entry `once`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use harness::{Once, Placement};
use observation::Measure;
use serde::Serialize;

#[derive(Args, Serialize)]
struct Parameters {
    /// Pairs of readings
    #[arg(long, default_value_t = 10)]
    readings: usize,
}

struct Clock(usize);

impl Once for Clock {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, _: Placement) -> Result<Self> {
        Ok(Self(parameters.readings))
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let step = |_| Instant::now().elapsed().as_nanos() as f64;
        let values = (0..self.0).map(step).collect();
        Ok(BTreeMap::from([("step".to_owned(), Measure { unit: "ns".to_owned(), values })]))
    }
}

fn main() -> ExitCode {
    harness::once::<Clock>("harness/clock")
}
