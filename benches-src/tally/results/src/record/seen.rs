//! What one process's observation comes to, without its raw samples: all that numbers, figures and
//! doubts are computed from. A local record and a bundle have the samples, and become this when
//! they are read; a digest has nothing else. So they print the same, to the digit.

use std::sync::Arc;

use observation::{Histogram, Measure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lines::Raw;
use super::names::{Named, named};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The program's parameters by name, defaults included. Those of a digest share them by cell.
    pub parameters: Arc<Named<Value>>,
    /// What its samples come to; nothing where none was taken.
    pub timed: Option<Timed>,
    /// Named results, each with its unit.
    pub measures: Named<Measure>,
    /// Distributions of single operations, by name.
    pub histograms: Named<Histogram>,
    /// What counters did while the program did nothing.
    pub idle_window: Option<Window>,
    /// From the end of the set-up to the last sample, for counters that are too dear to read per
    /// sample.
    pub whole_run: Option<Window>,
    /// What could not be measured, and why.
    pub unavailable: Named<String>,
    /// What the harness itself distrusts.
    pub doubts: Vec<String>,
}

/// A stretch of time in which counters ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Operations done in it.
    pub operations: u64,
    /// Its length, in nanoseconds.
    pub elapsed_ns: u64,
    /// By how much each counter moved.
    pub counters: Named<u64>,
}

impl From<observation::Window> for Window {
    fn from(own: observation::Window) -> Self {
        Self { operations: own.operations, elapsed_ns: own.elapsed_ns, counters: named(own.counters) }
    }
}

/// What the samples of one process come to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// How many were taken, at least one.
    pub samples: u64,
    /// Operations in all of them.
    pub operations: u64,
    /// How long all of them took, in nanoseconds.
    pub elapsed_ns: u64,
    /// The median over samples of the time that an operation took, in nanoseconds.
    pub ns_per_operation: f64,
    /// The same of its CPU time in user and kernel mode together; nothing where a sample lacks
    /// either.
    pub cpu_ns_per_operation: Option<f64>,
    /// By how much each counter that the first sample has moved during all of them.
    pub counters: Named<u64>,
    /// Whether a sample took seconds longer than its operations did in the others.
    pub one_stands_out: bool,
}

impl Seen {
    /// What an observation comes to.
    pub fn of(raw: Raw) -> Self {
        let Raw { mut parameters, samples, measures, histograms, idle_window, whole_run, .. } = raw;
        // A parameter that is nothing is none.
        parameters.retain(|_, value| !value.is_null());
        Self {
            parameters: Arc::new(parameters),
            timed: samples.summary(),
            measures,
            histograms,
            idle_window: idle_window.map(Window::from),
            whole_run: whole_run.map(Window::from),
            unavailable: raw.unavailable,
            doubts: raw.doubts,
        }
    }
}

/// A pause that nothing in this book makes by itself, in milliseconds.
pub const STOPPED_MS: f64 = 2500.0;

/// What values of one kind usually are at most: their median and three times as much as separates
/// their quarters. Nothing where there are too few to tell.
pub struct Usual(Option<f64>);

impl Usual {
    pub fn of(all: &[f64]) -> Self {
        let mut sorted = all.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: usize| sorted[(share * sorted.len() / 4).min(sorted.len() - 1)];
        Self((sorted.len() > 2).then(|| at(2) + 3.0 * (at(3) - at(1))))
    }

    /// Whether a value lies beyond that by more than so much.
    pub fn is_exceeded(&self, value: f64, by: f64) -> bool {
        self.0.is_some_and(|most| value > most + by)
    }
}
