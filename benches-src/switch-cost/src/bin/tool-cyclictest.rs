//! One operation: the lateness of one wake-up by a timer, as `cyclictest` averages it.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::process::ExitCode;

use anyhow::Result;
use resources::tool::{elapsed_ns, number_after, output_of};
use harness::{Nothing, Once, Placement};
use observation::Measure;
use rustix::thread::set_current_timer_slack;

struct Cyclictest;

impl Once for Cyclictest {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self)
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        // What it starts inherits this. By default the kernel lets a timer go off up to 50 µs late, to serve several at once.
        set_current_timer_slack(NonZeroU64::new(1))?;
        // Without leave to sleep, CPUs would stay awake for it: what is asked here is what they do otherwise.
        let flags = ["--quiet", "--laptop", "--loops", "400", "--interval", "500"];
        let output = output_of("rt-tests", &[&["cyclictest"], &flags[..]].concat())?;
        Ok(elapsed_ns(1e3 * number_after("Avg:", &output)?))
    }
}

fn main() -> ExitCode {
    harness::once::<Cyclictest>(harness::name!())
}
