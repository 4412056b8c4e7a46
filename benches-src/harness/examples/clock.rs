//! One operation: two readings of the monotonic clock. The smallest program on the entry `once`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use harness::{Described, Placement, Report, described};
use observation::Measure;
use serde::Serialize;

#[derive(Args, Serialize)]
struct Parameters {
    /// Pairs of readings
    #[arg(long, default_value_t = 10)]
    readings: usize,
    /// What the result is called
    #[arg(long, default_value = "step")]
    name: String,
}

const MEASURES: &[Described] = &[described("step", "ns", "from one reading of the clock to the next")];

fn clock(parameters: Parameters, _: Placement, report: Report) -> Result<()> {
    let step = |_| Instant::now().elapsed().as_nanos() as f64;
    let values = (0..parameters.readings).map(step).collect();
    report.give(BTreeMap::from([(parameters.name, Measure { unit: "ns".to_owned(), values })]))
}

fn main() -> ExitCode {
    harness::once("harness/clock", MEASURES, clock)
}
