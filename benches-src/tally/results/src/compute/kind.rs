//! What moves alike between sessions.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::book::count::Count;
use crate::book::expression::{Expression, Operator};
use crate::book::measure::{ELAPSED, QUANTILE, counter_named};
use crate::book::reading::part;
use crate::book::unit::Unit;
use crate::statistics::Estimate;

/// Quantities that sessions move alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// System calls and instructions, which a tool counted and found next to alike in all rounds.
    Calls,
    /// Whatever else was counted: switches, mappings, how many there could be.
    Count,
    /// Bytes that one unit takes of its process, and ratios of such.
    Memory,
    /// Bytes that one unit takes by the account of the whole system, where others move it as well.
    System,
    /// Bytes of a whole process that did its work for a while.
    Footprint,
    /// One time, or a rate.
    Time,
    /// A time over another of the same rounds.
    Ratio,
    /// A time less another, and whatever stands on one.
    Difference,
    /// What is beyond all but a few of many.
    Tail,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::Time,
        Self::Ratio,
        Self::Difference,
        Self::Tail,
        Self::Memory,
        Self::System,
        Self::Footprint,
        Self::Calls,
        Self::Count,
    ];

    /// Whether its quantities have spreads of their own; those of others share a factor.
    pub fn has_spreads(self) -> bool {
        matches!(self, Self::Ratio | Self::Difference | Self::Memory)
    }

    /// What an expression is: as unsteady as the unsteadiest thing in it.
    pub fn of(expression: &Expression) -> Self {
        let leaves = expression.leaves();
        let read = leaves.iter().map(|leaf| Self::of_measure(&leaf.measure)).max().unwrap_or(Self::Calls);
        match read {
            Self::Time if has_difference(expression) => Self::Difference,
            Self::Time if has_ratio(expression) => Self::Ratio,
            other => other,
        }
    }

    /// What a number is. Calls that a session itself finds unsteady, as those are that wait for
    /// others, are like any other count.
    pub fn of_number(expression: &Expression, number: &Estimate) -> Self {
        const STEADY: f64 = 0.01;
        match Self::of(expression) {
            Self::Calls if number.relative_half_width().is_some_and(|width| width > STEADY) => Self::Count,
            other => other,
        }
    }

    /// What a measure is: as `measures.toml` declares it, or what tally itself reads is.
    fn of_measure(measure: &str) -> Self {
        let share = measure.strip_prefix(QUANTILE).and_then(|share| share.parse::<f64>().ok());
        let is_time = counter_named(measure).is_some_and(|counter| counter.unit == Unit::Nanoseconds);
        match share {
            Some(share) if share > 0.5 => Self::Tail,
            Some(_) => Self::Time,
            None if measure == ELAPSED || is_time => Self::Time,
            None if Count::named(measure).is_some() => Self::Calls,
            None => Self::declared(measure).unwrap_or(Self::Count),
        }
    }

    /// What a measure is that a program reports, if it is declared.
    pub fn declared(measure: &str) -> Option<Self> {
        DECLARED.get(part(measure).0).copied()
    }

    /// Every measure that is declared.
    pub fn all_declared() -> impl Iterator<Item = &'static str> {
        DECLARED.keys().map(String::as_str)
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Time => "single times",
            Self::Ratio => "ratios of times within rounds",
            Self::Difference => "differences of times within rounds, and ratios of such",
            Self::Tail => "percentiles above the median",
            Self::Memory => "memory of one thread or task, by its process",
            Self::System => "the same by the whole system",
            Self::Footprint => "memory of a whole server",
            Self::Calls => "system calls and instructions that are steady",
            Self::Count => "other counts",
        }
    }
}

/// The measures that programs report, each with its kind.
static DECLARED: LazyLock<BTreeMap<String, Kind>> = LazyLock::new(|| {
    let text = include_str!("../../../../measures.toml");
    let kinds: BTreeMap<Kind, Vec<String>> = toml::from_str(text).expect("a test reads what is compiled in");
    kinds.into_iter().flat_map(|(kind, names)| names.into_iter().map(move |name| (name, kind))).collect()
});

fn has_difference(expression: &Expression) -> bool {
    match expression {
        Expression::Binary(_, Operator::Minus, _) => true,
        Expression::Binary(a, _, b) => has_difference(a) || has_difference(b),
        Expression::In(_, formula) => has_difference(formula),
        Expression::Number(_) | Expression::Leaf(_) => false,
    }
}

/// Whether something that was measured is divided by something that was.
fn has_ratio(expression: &Expression) -> bool {
    let is_measured = |own: &Expression| !own.leaves().is_empty();
    match expression {
        Expression::Binary(a, Operator::Over, b) => is_measured(a) && is_measured(b) || has_ratio(a) || has_ratio(b),
        Expression::Binary(a, _, b) => has_ratio(a) || has_ratio(b),
        Expression::In(_, formula) => has_ratio(formula),
        Expression::Number(_) | Expression::Leaf(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Kind {
        Kind::of(&Expression::parse(text).unwrap())
    }

    #[test]
    fn a_kind_is_as_unsteady_as_the_unsteadiest_thing_in_it() {
        for (text, known) in [
            ("a", Kind::Time),
            ("a / 1000", Kind::Time),
            ("a.rate", Kind::Time),
            ("a / b", Kind::Ratio),
            ("a - b", Kind::Difference),
            ("(a - b) / (c - d)", Kind::Difference),
            ("a.quantile_0.5", Kind::Time),
            ("a.quantile_0.99 / b.quantile_0.99", Kind::Tail),
            ("a.half_p99_ns", Kind::Tail),
            ("a.p99_ns", Kind::Tail),
            ("a.p50_ns", Kind::Time),
            ("a.load_cpu_share", Kind::Time),
            ("a.user_ns", Kind::Time),
            ("a.total_bytes_at_0", Kind::Memory),
            ("a.instructions_atomic", Kind::Calls),
            ("a.nobody_declares_it", Kind::Count),
            ("a.total_bytes / b.total_bytes", Kind::Memory),
            ("a.total_bytes - b.total_bytes", Kind::Memory),
            ("a.user_memory_bytes", Kind::Footprint),
            ("a.total_bytes - b.system_slab_bytes", Kind::System),
            ("a + b", Kind::Time),
            ("a.calls / b.calls", Kind::Calls),
            ("a.kept_memory", Kind::Count),
            ("a.calls * b", Kind::Time),
        ] {
            assert_eq!(kind(text), known, "{text}");
        }
    }
}
