//! One operation: one message of 100 bytes, of which 20 threads send many to 20 others over pipes, as `hackbench` times them all.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Nothing, Placement, Report, described};
use resources::tool::{elapsed_ns, number_after, output_of};

fn tool_hackbench(_: Nothing, _: Placement, report: Report) -> Result<()> {
    const MESSAGES: f64 = 20.0 * 20.0 * 500.0;
    let output = output_of("rt-tests", &["hackbench", "-T", "-p", "-g", "1", "-l", "500"])?;
    report.give(elapsed_ns(1e9 * number_after("Time: ", &output)? / MESSAGES))
}

fn main() -> ExitCode {
    let measures = [described(
        "elapsed",
        "ns",
        "the time of all messages together, as hackbench says it, divided by their number",
    )];
    harness::once(harness::name!(), &measures, tool_hackbench)
}
