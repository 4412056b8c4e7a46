//! One operation: one load that says where the next one goes, so that nothing can be fetched ahead; to each line of some memory once, in
//! random order.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fastrand::Rng;
use harness::{Laps, Placement, Repeat};
use serde::Serialize;

#[derive(Args, Serialize)]
struct Memory {
    /// How much memory the loads go over
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u64).range(1 << 12..=1 << 30))]
    bytes: u64,
}

/// What a cache fetches at once.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line {
    /// The number of the line to go to.
    next: u32,
}

struct ChaseMemory {
    lines: Vec<Line>,
    at: u32,
    passed: u64,
}

impl Repeat for ChaseMemory {
    type Parameters = Memory;

    fn set_up(memory: &Memory, _: Placement) -> Result<Self> {
        let count = memory.bytes as usize / size_of::<Line>();
        let mut lines = vec![Line::default(); count];
        let mut order: Vec<u32> = (0..count as u32).collect();
        Rng::with_seed(count as u64).shuffle(&mut order);
        for (index, line) in order.iter().enumerate() {
            lines[*line as usize].next = order[(index + 1) % count];
        }
        Ok(Self { lines, at: order[0], passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.lines.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            let start = self.at;
            loop {
                self.at = self.lines[self.at as usize].next;
                self.passed += 1;
                if self.at == start {
                    break;
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.passed)
    }
}

fn main() -> ExitCode {
    harness::repeat::<ChaseMemory>(harness::name!())
}
