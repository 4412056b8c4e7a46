//! One operation: one message of 100 bytes, of which 20 threads send many to 20 others over pipes, as `hackbench` times them all.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use resources::tool::{elapsed_ns, number_after, output_of};
use harness::{Nothing, Once, Placement};
use observation::Measure;

struct Hackbench;

impl Once for Hackbench {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self)
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        const MESSAGES: f64 = 20.0 * 20.0 * 500.0;
        let output = output_of("rt-tests", &["hackbench", "-T", "-p", "-g", "1", "-l", "500"])?;
        Ok(elapsed_ns(1e9 * number_after("Time: ", &output)? / MESSAGES))
    }
}

fn main() -> ExitCode {
    harness::once::<Hackbench>(harness::name!())
}
