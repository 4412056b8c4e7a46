//! What is counted exactly, instead of being timed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an experiment counts instead of timing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// System calls of each kind per operation, under strace: `calls` and `calls_<name>` in
    /// expressions.
    SystemCalls,
    /// Instructions in user space per operation, under callgrind: `instructions`, and of these
    /// `instructions_atomic` and `instructions_entering_malloc`.
    Instructions,
}

impl Count {
    /// Both.
    pub const EVERY: [Self; 2] = [Self::SystemCalls, Self::Instructions];

    /// What expressions call the count of all.
    pub fn all(self) -> &'static str {
        match self {
            Count::SystemCalls => "calls",
            Count::Instructions => "instructions",
        }
    }

    /// What expressions put before the name of a kind.
    pub fn of_a_kind(self) -> &'static str {
        match self {
            Count::SystemCalls => "calls_",
            Count::Instructions => "instructions_",
        }
    }

    /// What is counted where a measure has this name.
    pub fn named(measure: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|count| measure == count.all() || measure.starts_with(count.of_a_kind()))
    }

    /// What is counted, and by what.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Count::SystemCalls => ("System calls", "strace"),
            Count::Instructions => ("Instructions in user space", "valgrind's callgrind"),
        }
    }

    /// The laps of the shorter and of the longer run.
    pub fn laps(self) -> [u64; 2] {
        match self {
            Count::SystemCalls => [10, 60],
            Count::Instructions => [100, 1100],
        }
    }

    /// The laps of the longer run, where the shorter one did so many operations. strace takes some
    /// 100 µs for each call, and chance adds less than one in a thousand operations.
    pub fn longer(self, [shorter, longer]: [u64; 2], operations: u64) -> u64 {
        const ENOUGH: u64 = 1000;
        match self {
            Count::SystemCalls if operations >= ENOUGH => longer.min(2 * shorter),
            _ => longer,
        }
    }

    /// The tool that counts it.
    pub fn command(self) -> &'static str {
        match self {
            Count::SystemCalls => "strace",
            Count::Instructions => "valgrind",
        }
    }
}

/// The kinds of instructions that are told apart.
pub const KINDS: [&str; 2] = ["atomic", "entering_malloc"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_system_calls_need_no_more_than_twice_the_shorter_run() {
        let laps = Count::SystemCalls.laps();
        assert_eq!([40, 1000].map(|done| Count::SystemCalls.longer(laps, done)), [60, 20]);
        assert_eq!(Count::Instructions.longer([100, 1100], 1_000_000), 1100, "instructions are exact");
    }
}
