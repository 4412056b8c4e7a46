//! What the programs of this chapter share: a lap creates a batch of units and waits until all of them have ended.

pub mod pthread;
pub mod stacks;

use anyhow::Result;
use clap::{Args, ValueEnum};
use harness::{Laps, Running, monotonic_ns};
use serde::Serialize;

/// The parameters that every program has.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Batch {
    /// Units that are created one after the other before the first of them is waited for
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub batch: u64,
    /// Until when the clock runs
    #[arg(long, value_enum, default_value_t)]
    pub until: Until,
}

/// The parameters of units that have a stack.
#[derive(Args, Serialize, Clone, Copy)]
pub struct BatchOfStacks {
    /// The batch
    #[command(flatten)]
    #[serde(flatten)]
    pub batch: Batch,
    /// Each unit's stack; std's default is 2 MiB
    #[arg(long, default_value_t = 2 << 20, value_parser = clap::value_parser!(u64).range(16_384..=1 << 30))]
    pub stack_bytes: u64,
}

/// The end of what is timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The whole batch is created, and its creator may go on: the creator's own time
    Created,
    /// A unit does its first instruction; each by its own account, from the call that created it
    Started,
    /// All have ended, and their creator knows it
    #[default]
    Joined,
}

impl Until {
    /// What each unit does first, and nothing after it: it reads the clock if somebody wants to know.
    #[inline]
    pub fn first_instruction(self) -> u64 {
        if self == Until::Started { monotonic_ns() } else { 0 }
    }
}

impl Batch {
    /// The laps, each of them a batch.
    pub fn laps(self, laps: Laps) -> Batches {
        let calls_ns = Vec::with_capacity(if self.until == Until::Started { self.batch as usize } else { 0 });
        Batches { laps: laps.into_iter(), batch: self, calls_ns, ended: 0, of_batch: 0 }
    }

    /// Room for the units of one batch.
    pub fn room<Unit>(self) -> Vec<Unit> {
        Vec::with_capacity(self.batch as usize)
    }
}

/// One batch after the other.
pub struct Batches {
    laps: Running,
    batch: Batch,
    /// When each unit of this batch was asked for, where that matters.
    calls_ns: Vec<u64>,
    ended: u64,
    /// How many of this batch have ended.
    of_batch: usize,
}

impl Batches {
    /// Whether there is another batch to create.
    #[inline]
    pub fn go_on(&mut self) -> bool {
        self.laps.next().is_some()
    }

    /// Creates the units of one batch.
    #[inline]
    pub fn create<Unit>(&mut self, units: &mut Vec<Unit>, mut create: impl FnMut() -> Result<Unit>) -> Result<()> {
        self.calls_ns.clear();
        self.of_batch = 0;
        // Two readings of its own, and not the harness's clock stopped and started: that reads every counter, and whoever reads files leaves
        // a colder cache and a tidier heap to the next batch than its own units would have.
        let begun_ns = if self.batch.until == Until::Created { monotonic_ns() } else { 0 };
        for _ in 0..self.batch.batch {
            if self.batch.until == Until::Started {
                self.calls_ns.push(monotonic_ns());
            }
            units.push(create()?);
        }
        if self.batch.until == Until::Created {
            self.laps.took(monotonic_ns() - begun_ns);
        }
        Ok(())
    }

    /// The next unit has ended, in the order of creation; it says when it did its first instruction.
    #[inline]
    pub fn ended(&mut self, first_instruction_ns: u64) {
        if self.batch.until == Until::Started {
            self.laps.took(first_instruction_ns - self.calls_ns[self.of_batch]);
        }
        self.of_batch += 1;
        self.ended += 1;
    }

    /// How many units have ended in all batches.
    pub fn count(&self) -> u64 {
        self.ended
    }
}
