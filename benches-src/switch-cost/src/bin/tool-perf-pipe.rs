//! One operation: one round trip of an integer between two threads over two pipes, as `perf bench sched pipe` times it: two writes, two reads, two switches.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use resources::tool::{elapsed_ns, number_before, output_of};
use harness::{Nothing, Once, Placement};
use observation::Measure;

struct PerfPipe;

impl Once for PerfPipe {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self)
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let output = output_of("linux-perf", &["perf", "bench", "sched", "pipe", "-T", "-l", "20000"])?;
        Ok(elapsed_ns(1e3 * number_before(" usecs/op", &output)?))
    }
}

fn main() -> ExitCode {
    harness::once::<PerfPipe>(harness::name!())
}
