//! One operation: one load that says where the next one goes, so that nothing can be fetched ahead; to each line of some memory once, in
//! random order.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use fastrand::Rng;
use harness::{Clock, Placement};
use serde::Serialize;

fn chase_memory(memory: Memory, _: Placement, clock: Clock) -> Result<u64> {
    let lines = lines_in_random_order(memory.bytes as usize / size_of::<Line>());
    let mut passed = 0;
    clock.time(lines.len() as u64, |laps| {
        for () in laps {
            passed += go_round(&lines);
        }
        Ok(())
    })?;
    Ok(passed)
}

/// Follows the lines until they lead back, and says how many loads that took. It is compiled by itself: in which registers the address of a
/// load stands can be worth a cycle, and would else depend on what is around it.
#[inline(never)]
fn go_round(lines: &[Line]) -> u64 {
    const START: u32 = 0;
    let (mut at, mut passed) = (START, 0);
    loop {
        at = lines[at as usize].next;
        passed += 1;
        if at == START {
            return passed;
        }
    }
}

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

/// So many lines, each of which leads to another one, until all were passed.
fn lines_in_random_order(count: usize) -> Vec<Line> {
    let mut lines = vec![Line::default(); count];
    let mut order: Vec<u32> = (0..count as u32).collect();
    Rng::with_seed(count as u64).shuffle(&mut order);
    for (index, line) in order.iter().enumerate() {
        lines[*line as usize].next = order[(index + 1) % count];
    }
    lines
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), chase_memory)
}
