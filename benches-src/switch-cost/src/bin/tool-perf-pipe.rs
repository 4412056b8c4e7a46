//! One operation: one round trip of an integer between two threads over two pipes, as `perf bench sched pipe` times it: two writes, two reads, two switches.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Nothing, Placement, Report, described};
use resources::tool::{elapsed_ns, number_before, output_of};

fn tool_perf_pipe(_: Nothing, _: Placement, report: Report) -> Result<()> {
    let output = output_of("linux-perf", &["perf", "bench", "sched", "pipe", "-T", "-l", "20000"])?;
    report.give(elapsed_ns(1e3 * number_before(" usecs/op", &output)?))
}

fn main() -> ExitCode {
    let measures = [described("elapsed", "ns", "the mean time of a round trip over 20000 of them, as perf says it")];
    harness::once(harness::name!(), &measures, tool_perf_pipe)
}
