//! One operation: the start of a thread to its first instruction, as `stress-ng --pthread` has it.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Nothing, Placement, Report, described};
use resources::tool::{elapsed_ns, number_before, output_of};

fn tool_stress_pthread(_: Nothing, _: Placement, report: Report) -> Result<()> {
    let flags = ["--pthread", "1", "--pthread-max", "1", "--pthread-ops", "5000", "--metrics"];
    let output = output_of("stress-ng", &[&["stress-ng"], &flags[..]].concat())?;
    report.give(elapsed_ns(number_before(" nanosecs to start a pthread", &output)?))
}

fn main() -> ExitCode {
    let measures =
        [described("elapsed", "ns", "the mean time to start a thread over 5000 of them, as stress-ng says it")];
    harness::once(harness::name!(), &measures, tool_stress_pthread)
}
