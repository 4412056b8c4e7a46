//! One operation: one thread created and ended, as `stress-ng --pthread` counts them.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use resources::tool::{elapsed_ns, number_before, output_of};
use harness::{Nothing, Once, Placement};
use observation::Measure;

struct StressPthread;

impl Once for StressPthread {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self)
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let flags = ["--pthread", "1", "--pthread-max", "1", "--pthread-ops", "5000", "--metrics"];
        let output = output_of("stress-ng", &[&["stress-ng"], &flags[..]].concat())?;
        Ok(elapsed_ns(number_before(" nanosecs to start a pthread", &output)?))
    }
}

fn main() -> ExitCode {
    harness::once::<StressPthread>(harness::name!())
}
