//! One operation: the lateness of one wake-up by a timer, as `cyclictest` averages it.

use std::num::NonZeroU64;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Nothing, Placement, Report, described};
use resources::tool::{elapsed_ns, number_after, output_of};

use rustix::thread::set_current_timer_slack;

fn tool_cyclictest(_: Nothing, _: Placement, report: Report) -> Result<()> {
    // What it starts inherits this. By default the kernel lets a timer go off up to 50 µs late, to serve several at once.
    set_current_timer_slack(NonZeroU64::new(1))?;
    // Without leave to sleep, CPUs would stay awake for it: what is asked here is what they do otherwise.
    let flags = ["--quiet", "--laptop", "--loops", "400", "--interval", "500"];
    let output = output_of("rt-tests", &[&["cyclictest"], &flags[..]].concat())?;
    report.give(elapsed_ns(1e3 * number_after("Avg:", &output)?))
}

fn main() -> ExitCode {
    let measures = [described(
        "elapsed",
        "ns",
        "how late a wake-up was on average over 400, in whole microseconds as cyclictest says it",
    )];
    harness::once(harness::name!(), &measures, tool_cyclictest)
}
