//! One operation: one switch between two processes over a pipe, as `stress-ng --switch` times it.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Nothing, Placement, Report, described};
use resources::tool::{elapsed_ns, number_before, output_of};

fn tool_stress_switch(_: Nothing, _: Placement, report: Report) -> Result<()> {
    let flags = ["--switch", "1", "--switch-method", "pipe", "--switch-ops", "20000", "--metrics"];
    let output = output_of("stress-ng", &[&["stress-ng"], &flags[..]].concat())?;
    report.give(elapsed_ns(number_before(" nanosecs per context switch", &output)?))
}

fn main() -> ExitCode {
    let measures = [described("elapsed", "ns", "the mean time of a switch, as stress-ng says it")];
    harness::once(harness::name!(), &measures, tool_stress_switch)
}
