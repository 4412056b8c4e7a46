//! How far sessions of one machine differ, and what that makes of an interval. The interval over a session's rounds says how well these fix
//! their median, and not where another session's would lie. What is printed does.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::book::expression::{Expression, Operator};
use crate::book::measure::{ELAPSED, QUANTILE, counter_named};
use crate::book::unit::Unit;
use crate::project::Project;
use crate::record::{Header, Record};
use crate::statistics::Estimate;

use super::quantity::{Measured, Quantity};

/// What moves alike between sessions.
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

    /// What a number is. Calls that a session itself finds unsteady, as those are that wait for others, are like any other count.
    pub fn of_number(expression: &Expression, number: &Estimate) -> Self {
        const STEADY: f64 = 0.01;
        match Self::of(expression) {
            Self::Calls if number.relative_half_width().is_some_and(|width| width > STEADY) => Self::Count,
            other => other,
        }
    }

    fn of_measure(measure: &str) -> Self {
        let share = measure.strip_prefix(QUANTILE).and_then(|share| share.parse::<f64>().ok());
        let is_tail = |share: f64| share > 0.5;
        let counter = counter_named(measure).is_some_and(|counter| counter.unit == Unit::Nanoseconds);
        match measure {
            _ if share.is_some_and(is_tail) || measure.contains("_p9") => Self::Tail,
            _ if measure == ELAPSED || share.is_some() || counter || measure.ends_with("_ns") => Self::Time,
            // Requests a second, and the share of a second that a CPU was busy.
            "rate" | "load_cpu_share" => Self::Time,
            "user_memory_bytes" => Self::Footprint,
            _ if ["system_", "slab_", "available_"].iter().any(|of_all| measure.starts_with(of_all)) => Self::System,
            _ if measure.contains("_bytes") => Self::Memory,
            _ if measure.starts_with("calls") || measure.starts_with("instructions") => Self::Calls,
            _ => Self::Count,
        }
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

/// `data/between-sessions.toml`: what `tally between --derive` found in all sessions that this project ever kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Between {
    pub derived: String,
    /// When the last session began that was looked at.
    pub until: String,
    /// How many sessions were read.
    pub sessions: usize,
    /// The mean correlation of a round's value with the one before it.
    pub correlation: f64,
    /// By how much intervals are too narrow, were rounds independent but for that.
    pub too_narrow: f64,
    /// Parts of claims that two sessions have which were not used for the factors of the earlier half.
    #[serde(default)]
    pub parts: usize,
    /// How many of these the two sessions judge otherwise, by intervals widened by those factors.
    #[serde(default)]
    pub parts_changed: usize,
    /// How many of those hold by one session and do not by the other.
    #[serde(default)]
    pub parts_contradicted: usize,
    /// How many pairs of sessions are of which machine.
    #[serde(default)]
    pub machines: BTreeMap<String, usize>,
    /// What was found of each kind.
    #[serde(default, rename = "kind")]
    pub kinds: Vec<Factor>,
}

/// How far sessions move quantities of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    pub kind: Kind,
    /// In which chapter, or experiment, where it is of one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Pairs of numbers, each from two sessions.
    pub pairs: usize,
    /// From so many pairs of sessions.
    pub pairs_of_sessions: usize,
    /// In what share of them a session's own interval misses the other's median.
    pub missed: f64,
    /// An interval's ends are moved apart by this factor, upwards and downwards, and then miss one in twenty. None where there are too few
    /// pairs to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// The same derived from the earlier half alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor_of_earlier: Option<f64>,
    /// When the earlier half was complete.
    pub tried_from: String,
    /// Numbers of the later half, on which that one was tried.
    #[serde(default)]
    pub tried: usize,
    /// The pairs of sessions that these are from.
    #[serde(default)]
    pub tried_pairs_of_sessions: usize,
    /// Of these, the share whose widened interval contains the other session's median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered: Option<f64>,
}

/// From so many sessions on, they speak for themselves: the range of so many misses the next one in one case of twenty.
pub const ENOUGH_SESSIONS: usize = 39;

/// How often the next session may lie outside of the range of those before it.
const OUTSIDE_AT_MOST: f64 = 0.05;

impl Between {
    /// Reads what was derived; nothing is known where there is no such file.
    pub fn load(project: &Project) -> Result<Self> {
        let path = project.between_sessions();
        let Ok(text) = fs::read_to_string(&path) else { return Ok(Self::default()) };
        let read = || -> Result<Self> {
            let between: Self = toml::from_str(&text)?;
            for kind in &between.kinds {
                let is_factor = |factor: f64| (1.0..=1e6).contains(&factor);
                ensure!(kind.factor.is_none_or(is_factor), "{:?}: a factor is at least 1", kind.kind);
            }
            Ok(between)
        };
        read().with_context(|| format!("in {}", path.display()))
    }

    /// The same with the factors of the earlier half.
    pub fn of_earlier_half(&self) -> Self {
        let of_earlier = |own: &Factor| Factor { factor: own.factor_of_earlier, ..own.clone() };
        Self { kinds: self.kinds.iter().map(of_earlier).collect(), ..self.clone() }
    }

    /// By how much the intervals of a kind are to be widened in an experiment: as its own sessions say, if they are enough to say it, else as
    /// those of its chapter do, else as all.
    pub fn factor(&self, kind: Kind, of: &Header) -> Option<f64> {
        let within = |place: Option<&str>| {
            self.kinds.iter().find(|own| own.kind == kind && own.within.as_deref() == place)?.factor
        };
        within(Some(&of.experiment)).or_else(|| within(Some(&of.chapter))).or_else(|| within(None))
    }

    /// The quantity of a session with the interval that is printed: its interval over rounds, widened by as much as another session needs, of
    /// such quantities; and it encloses the medians of the other sessions that there are. What is not known well in one of those makes
    /// nothing less certain. Where sessions are many, it is their range.
    pub fn printed(
        &self,
        quantity: Quantity,
        expression: &Expression,
        of: &Header,
        others: &[Record],
    ) -> Result<Quantity> {
        self.cut(quantity, expression, of, others, Ok)
    }

    /// The same, with the widened interval cut to what is possible.
    fn cut(
        &self,
        quantity: Quantity,
        expression: &Expression,
        of: &Header,
        others: &[Record],
        possible: impl Fn((f64, f64)) -> Result<(f64, f64)>,
    ) -> Result<Quantity> {
        let Some(within) = quantity.estimate.interval else { return Ok(quantity) };
        let mut medians = Vec::new();
        for other in others {
            if let Ok(other) = other.evaluate(expression)? {
                medians.push(other.estimate.median);
            }
        }
        let sessions = medians.len() + 1;
        let interval = if sessions >= ENOUGH_SESSIONS {
            hull(within, range_of(quantity.estimate.median, medians))
        } else {
            let kind = Kind::of_number(expression, &quantity.estimate);
            let own = widened(kind, &quantity.estimate, within, self.factor(kind, of).unwrap_or(1.0));
            let own = hull(within, possible(own)?);
            medians.into_iter().fold(own, |interval, median| hull(interval, (median, median)))
        };
        let estimate = Estimate { interval: Some(interval), ..quantity.estimate };
        Ok(Quantity { estimate, sessions, ..quantity })
    }

    /// An interval of a difference without what no two numbers within the intervals of its terms
    /// come to.
    fn as_terms_allow(
        &self,
        (low, high): (f64, f64),
        expression: &Expression,
        record: &Record,
        others: &[Record],
    ) -> Result<(f64, f64)> {
        let (a, b) = match expression {
            Expression::Binary(a, Operator::Minus, b) => (a, b),
            Expression::In(_, formula) => return self.as_terms_allow((low, high), formula, record, others),
            _ => return Ok((low, high)),
        };
        let (Ok(a), Ok(b)) = (self.of(record, a, others)?, self.of(record, b, others)?) else { return Ok((low, high)) };
        let Some(((a_low, a_high), (b_low, b_high))) = a.estimate.interval.zip(b.estimate.interval) else {
            return Ok((low, high));
        };
        Ok((low.max(a_low - b_high), high.min(a_high - b_low)))
    }

    /// The same where there may be no number.
    pub fn of(&self, record: &Record, expression: &Expression, others: &[Record]) -> Result<Measured> {
        match record.evaluate(expression)? {
            Ok(quantity) => {
                let as_terms_allow = |interval| self.as_terms_allow(interval, expression, record, others);
                Ok(Ok(self.cut(quantity, expression, &record.header, others, as_terms_allow)?))
            }
            missing => Ok(missing),
        }
    }
}

/// An interval with its ends moved apart, by a factor. The ends of a difference that reaches to
/// nothing or below it move by a share of the number; what was counted alike in every round is
/// exact, and stays so.
fn widened(kind: Kind, estimate: &Estimate, (low, high): (f64, f64), factor: f64) -> (f64, f64) {
    let is_exact = kind == Kind::Count && low == high;
    match kind {
        _ if is_exact => (low, high),
        _ if low > 0.0 => (low / factor, high * factor),
        Kind::Difference => {
            let by = (factor - 1.0) * estimate.median.abs();
            (low - by, high + by)
        }
        _ => {
            let by = (factor - 1.0) * low.abs().max(high.abs());
            (low - by, high + by)
        }
    }
}

/// How far an interval's ends would have to be moved apart to contain another session's median: 1 where they do already.
pub fn factor_needed(kind: Kind, estimate: &Estimate, (low, high): (f64, f64), other: f64) -> f64 {
    let by = (low - other).max(other - high);
    if by <= 0.0 {
        return 1.0;
    }
    match kind {
        _ if low > 0.0 && other > 0.0 => (low / other).max(other / high),
        // Nothing that is above nothing can be moved to it by a factor.
        Kind::Difference if low > 0.0 => f64::INFINITY,
        Kind::Difference => 1.0 + by / estimate.median.abs(),
        _ => 1.0 + by / low.abs().max(high.abs()).max(f64::MIN_POSITIVE),
    }
}

fn hull((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    (a.min(c), b.max(d))
}

/// Between two of the sessions' medians, such that the next session's lies outside in one case of twenty at most.
fn range_of(own: f64, mut medians: Vec<f64>) -> (f64, f64) {
    medians.push(own);
    medians.sort_by(f64::total_cmp);
    let left_out = (OUTSIDE_AT_MOST * (medians.len() + 1) as f64 / 2.0).floor() as usize;
    let rank = left_out.max(1) - 1;
    (medians[rank], medians[medians.len() - 1 - rank])
}

#[cfg(test)]
mod tests;
