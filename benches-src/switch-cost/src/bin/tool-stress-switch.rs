//! One operation: one switch between two processes over a pipe, as `stress-ng --switch` times it.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use resources::tool::{elapsed_ns, number_before, output_of};
use harness::{Nothing, Once, Placement};
use observation::Measure;

struct StressSwitch;

impl Once for StressSwitch {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self)
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let flags = ["--switch", "1", "--switch-method", "pipe", "--switch-ops", "20000", "--metrics"];
        let output = output_of("stress-ng", &[&["stress-ng"], &flags[..]].concat())?;
        Ok(elapsed_ns(number_before(" nanosecs per context switch", &output)?))
    }
}

fn main() -> ExitCode {
    harness::once::<StressSwitch>(harness::name!())
}
