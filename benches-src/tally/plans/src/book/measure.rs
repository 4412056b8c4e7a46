//! What can be asked of a cell. A measure that no program has is an error with the nearest name,
//! and never a number that is missing.

use std::str::FromStr;

use anyhow::{Result, bail};
use syscalls::{aarch64, x86_64};

use crate::book::count::{Count, KINDS};
use crate::book::experiment::Experiment;
pub use crate::book::expression::ELAPSED;
use crate::book::reading::part;
use crate::book::unit::Unit;
use crate::name::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The process that is measured, with all its threads.
    Process,
    /// The whole machine, less what it does anyway.
    System,
}

/// A counter that a timed program reports for each of its samples, or for its whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    pub name: &'static str,
    /// The head of its column.
    pub head: &'static str,
    /// What it counts, per operation.
    pub unit: Unit,
    pub scope: Scope,
    /// Whether it has a column in every table, or only where a cell moves it.
    pub always: bool,
}

const fn counter(name: &'static str, head: &'static str, unit: Unit, scope: Scope, always: bool) -> Counter {
    Counter { name, head, unit, scope, always }
}

/// Every counter, in the order of a table's columns.
pub const COUNTERS: [Counter; 10] = [
    counter("voluntary_switches", "voluntary switches", Unit::Count, Scope::Process, true),
    counter("involuntary_switches", "involuntary switches", Unit::Count, Scope::Process, true),
    counter("user_ns", "CPU, user", Unit::Nanoseconds, Scope::Process, true),
    counter("system_ns", "CPU, system", Unit::Nanoseconds, Scope::Process, true),
    counter("migrations", "migrations", Unit::Count, Scope::Process, true),
    counter("network_calls", "calls to the network", Unit::Count, Scope::Process, false),
    counter("system_idle_entries", "idle entries, system", Unit::Count, Scope::System, false),
    counter("system_rescheduling_interrupts", "rescheduling interrupts, system", Unit::Count, Scope::System, false),
    counter("system_function_call_interrupts", "function-call interrupts, system", Unit::Count, Scope::System, false),
    counter("system_steal_ticks", "steal ticks, system", Unit::Count, Scope::System, false),
];

/// The counter of this name.
pub fn counter_named(name: &str) -> Option<&'static Counter> {
    COUNTERS.iter().find(|counter| counter.name == name)
}

/// How a quantile of single laps begins; its share follows.
pub const QUANTILE: &str = "quantile_";

/// Refuses a measure that an experiment cannot have, whoever is measured.
pub fn check(measure: &str, experiment: &Experiment) -> Result<()> {
    let is_known = match experiment.count {
        Some(count) => is_counted(measure, count),
        None if !experiment.is_timed() => {
            let (base, _) = part(measure);
            reported(experiment).any(|own| own == measure || own == base)
        }
        None => {
            measure == ELAPSED
                || counter_named(measure).is_some()
                || is_quantile(measure, experiment)
                || experiment.further_measures.iter().any(|own| own == measure)
        }
    };
    if is_known {
        return Ok(());
    }
    let known = known(experiment);
    let nearest = nearest(measure, known.iter().map(String::as_str));
    let nearest = nearest.map_or(String::new(), |nearest| format!("did you mean {nearest}? "));
    bail!("no program of {} has the measure {measure:?}; {nearest}there are: {}", experiment.name, known.join(", "))
}

fn is_quantile(measure: &str, experiment: &Experiment) -> bool {
    let share = measure.strip_prefix(QUANTILE).and_then(|share| share.parse::<f64>().ok());
    experiment.histogram_laps.is_some() && share.is_some_and(|share| 0.0 < share && share < 1.0)
}

fn is_counted(measure: &str, count: Count) -> bool {
    let kind = measure.strip_prefix(count.of_a_kind());
    measure == count.all()
        || kind.is_some_and(|kind| match count {
            Count::SystemCalls => is_system_call(kind),
            Count::Instructions => KINDS.contains(&kind),
        })
}

/// Whether Linux has a call of this name, on whatever machine: plans are the same everywhere, and
/// ARM lacks the older ones.
fn is_system_call(name: &str) -> bool {
    x86_64::Sysno::from_str(name).is_ok() || aarch64::Sysno::from_str(name).is_ok()
}

/// What programs report by themselves.
fn reported(experiment: &Experiment) -> impl Iterator<Item = &String> {
    experiment.measures.iter().chain(&experiment.further_measures)
}

/// What an experiment's cells can be asked for. Of system calls there are too many to say.
fn known(experiment: &Experiment) -> Vec<String> {
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    match experiment.count {
        Some(count @ Count::SystemCalls) => vec![count.all().to_owned(), format!("{}NAME", count.of_a_kind())],
        Some(count @ Count::Instructions) => {
            let kinds = KINDS.iter().map(|kind| format!("{}{kind}", count.of_a_kind()));
            [count.all().to_owned()].into_iter().chain(kinds).collect()
        }
        None if !experiment.is_timed() => reported(experiment).cloned().collect(),
        None => {
            let quantile = experiment.histogram_laps.map(|_| format!("{QUANTILE}0.99"));
            let own = quantile.into_iter().chain(experiment.further_measures.iter().cloned()).collect();
            [words(&[ELAPSED]), words(&COUNTERS.map(|counter| counter.name)), own].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_are_linux_own_and_instructions_of_few_kinds() {
        assert!(is_counted("calls_recvfrom", Count::SystemCalls) && is_counted("calls", Count::SystemCalls));
        assert!(!is_counted("calls_recvfrm", Count::SystemCalls) && !is_counted("call", Count::SystemCalls));
        // One that ARM lacks, and one that is called otherwise there.
        let everywhere = ["calls_epoll_wait", "calls_newfstatat", "calls_fstatat"];
        assert!(everywhere.iter().all(|name| is_counted(name, Count::SystemCalls)));
        assert!(is_counted("instructions_atomic", Count::Instructions));
        assert!(!is_counted("instructions_atomics", Count::Instructions));
    }
}
