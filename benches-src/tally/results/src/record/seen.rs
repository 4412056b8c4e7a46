//! What one process's observation comes to, without its raw samples: all that numbers, figures and
//! doubts are computed from. A local record and a bundle have the samples, and become this when
//! they are read; a digest has nothing else. So they print the same, to the digit.

use std::sync::Arc;

use observation::{Histogram, Measure, Observation};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{Named, named};
use crate::statistics;

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
    pub fn of(seen: Observation) -> Self {
        let Observation { parameters, samples, measures, histograms, .. } = seen;
        let Observation { idle_window, whole_run, unavailable, doubts, .. } = seen;
        // A parameter that is nothing is none.
        let parameters = parameters.into_iter().filter(|(_, value)| !value.is_null()).collect();
        Self {
            parameters: Arc::new(named(parameters)),
            timed: Timed::of(&samples),
            measures: named(measures),
            histograms: named(histograms),
            idle_window: idle_window.map(Window::from),
            whole_run: whole_run.map(Window::from),
            unavailable: named(unavailable),
            doubts,
        }
    }
}

impl Timed {
    /// What samples come to; nothing where there are none.
    pub fn of(samples: &[observation::Window]) -> Option<Self> {
        let first = samples.first()?;
        let each: Vec<f64> = samples.iter().map(|s| s.elapsed_ns as f64 / s.operations as f64).collect();
        let moved = |name: &String| samples.iter().filter_map(|sample| sample.counters.get(name)).sum();
        Some(Self {
            samples: samples.len() as u64,
            operations: samples.iter().map(|sample| sample.operations).sum(),
            elapsed_ns: samples.iter().map(|sample| sample.elapsed_ns).sum(),
            ns_per_operation: statistics::median(&each)?,
            cpu_ns_per_operation: cpu_time(samples),
            counters: first.counters.keys().map(|name| (name.as_str().into(), moved(name))).collect(),
            one_stands_out: one_stands_out(samples, &each),
        })
    }
}

/// The median over samples of an operation's CPU time, in nanoseconds.
fn cpu_time(samples: &[observation::Window]) -> Option<f64> {
    let both = |window: &observation::Window| Some(window.counters.get("user_ns")? + window.counters.get("system_ns")?);
    let each: Option<Vec<f64>> =
        samples.iter().map(|sample| Some(both(sample)? as f64 / sample.operations as f64)).collect();
    statistics::median(&each?)
}

/// A pause that nothing in this book makes by itself, in milliseconds.
pub const STOPPED_MS: f64 = 2500.0;

fn one_stands_out(samples: &[observation::Window], each: &[f64]) -> bool {
    samples.iter().zip(each).any(|(sample, own)| stands_out(*own, each, STOPPED_MS * 1e6 / sample.operations as f64))
}

/// Whether one value lies above others by so much, and by three times as much as separates their
/// quarters.
pub fn stands_out(value: f64, all: &[f64], by: f64) -> bool {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: usize| sorted[(share * sorted.len() / 4).min(sorted.len() - 1)];
    sorted.len() > 2 && value > at(2) + by + 3.0 * (at(3) - at(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(operations: u64, elapsed_ns: u64, counters: &[(&str, u64)]) -> observation::Window {
        let counters = counters.iter().map(|(name, moved)| ((*name).to_owned(), *moved)).collect();
        observation::Window { operations, elapsed_ns, counters }
    }

    #[test]
    fn samples_come_to_sums_and_medians() {
        let samples = [
            window(10, 100, &[("user_ns", 20), ("system_ns", 10), ("switches", 3)]),
            window(20, 500, &[("user_ns", 50), ("system_ns", 10)]),
            window(10, 300, &[("user_ns", 70), ("system_ns", 20), ("migrations", 1)]),
        ];
        let timed = Timed::of(&samples).unwrap();
        assert_eq!((timed.samples, timed.operations, timed.elapsed_ns), (3, 40, 900));
        assert_eq!((timed.ns_per_operation, timed.cpu_ns_per_operation), (25.0, Some(3.0)));
        let counters: Vec<(&str, u64)> = timed.counters.iter().map(|(name, moved)| (&**name, *moved)).collect();
        assert_eq!(counters, [("switches", 3), ("system_ns", 40), ("user_ns", 140)], "of the first sample's counters");
        assert!(!timed.one_stands_out);
        assert_eq!(Timed::of(&[]), None);
        assert_eq!(Timed::of(&[window(1, 1, &[("user_ns", 1)])]).unwrap().cpu_ns_per_operation, None);
    }

    #[test]
    fn a_sample_that_stood_still_for_seconds_stands_out() {
        let mut samples = vec![window(10, 1000, &[]); 5];
        samples[3].elapsed_ns += 2_600_000_000;
        assert!(Timed::of(&samples).unwrap().one_stands_out);
        samples[3].elapsed_ns -= 200_000_000;
        assert!(!Timed::of(&samples).unwrap().one_stands_out);
    }
}
