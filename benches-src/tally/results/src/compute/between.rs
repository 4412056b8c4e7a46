//! How far sessions of one machine differ, and what that makes of an interval. The interval over a
//! session's rounds says how well these fix their median, and not where another session's would
//! lie. What is printed does.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::book::experiment::in_full;
use crate::book::expression::{Expression, Operator};
use crate::project::Project;
use crate::statistics::Estimate;

use super::kind::Kind;
use super::numbers::Place;
use super::quantity::{Measured, Quantity, estimate_of};
use super::spread::Spread;

/// `data/between-sessions.toml`: what `tally between --derive` found in all sessions that this
/// project ever kept.
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
    /// When the earlier half of the pairs was complete.
    #[serde(default)]
    pub half: String,
    /// Parts of claims that two sessions have which began after it.
    #[serde(default)]
    pub parts: usize,
    /// How many of these the two sessions judge otherwise, by what the earlier half of the pairs
    /// comes to.
    #[serde(default)]
    pub parts_changed: usize,
    /// How many of those hold by one session and do not by the other.
    #[serde(default)]
    pub parts_contradicted: usize,
    /// How many pairs of sessions began within a day of each other.
    #[serde(default)]
    pub within_a_day: usize,
    /// How many pairs of sessions are of which machine.
    #[serde(default)]
    pub machines: BTreeMap<String, usize>,
    /// How sessions that were left out in turn came out.
    #[serde(default)]
    pub unused: Vec<Unused>,
    /// How far quantities of their own move, of the kinds that have spreads.
    #[serde(default, rename = "spread")]
    pub spreads: Vec<Spread>,
    /// What was found of each kind.
    #[serde(default, rename = "kind")]
    pub kinds: Vec<Factor>,
}

/// How numbers of one kind came out in sessions that were left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unused {
    pub kind: Kind,
    /// How many sessions had such numbers.
    pub sessions: usize,
    pub numbers: usize,
    /// The share of them whose median lay within the interval that was printed without it, both as
    /// they are rounded to be printed.
    pub covered: f64,
    /// Half the width of these intervals over their number, in the middle.
    pub half_width: f64,
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
    /// An interval's ends are moved apart by this factor, upwards and downwards, and then miss one
    /// in twenty. None where there are too few pairs to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

/// What a quantity came to in each session of a machine, that which is shown first.
pub type InSessions<'a> = dyn Fn(&Expression) -> Result<Vec<Measured>> + 'a;

/// From so many sessions on, they speak for themselves: the range of so many misses the next one in
/// one case of twenty.
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

    /// By how much the intervals of a kind are to be widened in an experiment: as its own sessions
    /// say, if they are enough to say it, else as those of its chapter do, else as all.
    pub fn factor(&self, kind: Kind, of: Place) -> Option<f64> {
        let within = |place: Option<&str>| {
            self.kinds.iter().find(|own| own.kind == kind && own.within.as_deref() == place)?.factor
        };
        within(Some(of.experiment)).or_else(|| within(Some(of.chapter))).or_else(|| within(None))
    }

    /// A quantity as it is printed. Its number is the median over the sessions that have it of six
    /// rounds or more. Its interval is that over the rounds of the session that is shown, moved to
    /// that number and widened: to what is known of its own spread, or else by as much as another
    /// session needs, of such quantities. It encloses what each session came to. Where sessions are
    /// many, it is their range.
    pub fn printed(&self, expression: &Expression, of: Place, sessions: &InSessions) -> Result<Measured> {
        let mut values = sessions(expression)?.into_iter();
        let shown = match values.next().expect("a session is shown") {
            Ok(quantity) => quantity,
            missing => return Ok(missing),
        };
        let session = shown.session;
        let Some(over_rounds) = session.interval else { return Ok(Ok(shown)) };
        let all: Vec<Estimate> = [session].into_iter().chain(values.flatten().map(|other| other.session)).collect();
        let known: Vec<f64> = all.iter().filter(|one| one.interval.is_some()).map(|one| one.median).collect();
        let median = estimate_of(shown.unit, &known).map_or(session.median, |over| over.median);
        let medians = all.iter().map(|one| one.median);
        let moved = moved(over_rounds, session.median, median);
        let interval = if all.len() >= ENOUGH_SESSIONS {
            hull(over_rounds, range_of(medians.collect()))
        } else {
            let kind = Kind::of_number(expression, &session);
            let is_above_nothing = moved.0 > 0.0 && all.iter().all(|one| one.median > 0.0);
            let own = match self.spreads.iter().find(|own| own.kind == kind).filter(|_| is_above_nothing) {
                Some(own) => {
                    let factor = own.factor(of.experiment, &in_full(expression, of.cells), known.len());
                    (median / factor, median * factor)
                }
                None => widened(kind, median, moved, self.factor(kind, of).unwrap_or(1.0)),
            };
            let own = self.as_terms_allow(hull(moved, own), expression, of, sessions)?;
            medians.fold(own, |interval, median| hull(interval, (median, median)))
        };
        let estimate = Estimate { median, interval: Some(interval), ..session };
        Ok(Ok(Quantity { estimate, sessions: known.len(), ..shown }))
    }

    /// An interval of a difference without what no two numbers within the intervals of its terms
    /// come to.
    fn as_terms_allow(
        &self,
        (low, high): (f64, f64),
        expression: &Expression,
        of: Place,
        sessions: &InSessions,
    ) -> Result<(f64, f64)> {
        let (a, b) = match expression {
            Expression::Binary(a, Operator::Minus, b) => (a, b),
            Expression::In(_, formula) => return self.as_terms_allow((low, high), formula, of, sessions),
            _ => return Ok((low, high)),
        };
        let (Ok(a), Ok(b)) = (self.printed(a, of, sessions)?, self.printed(b, of, sessions)?) else {
            return Ok((low, high));
        };
        let Some(((a_low, a_high), (b_low, b_high))) = a.estimate.interval.zip(b.estimate.interval) else {
            return Ok((low, high));
        };
        Ok((low.max(a_low - b_high), high.min(a_high - b_low)))
    }
}

/// An interval about one number, moved to another: by a factor, or where it reaches to nothing or
/// below it, by a difference.
fn moved((low, high): (f64, f64), from: f64, to: f64) -> (f64, f64) {
    match low > 0.0 && to > 0.0 {
        true => (low * to / from, high * to / from),
        false => (low + to - from, high + to - from),
    }
}

/// An interval with its ends moved apart, by a factor. The ends of a difference that reaches to
/// nothing or below it move by a share of the number; what was counted alike in every round is
/// exact, and stays so.
fn widened(kind: Kind, median: f64, (low, high): (f64, f64), factor: f64) -> (f64, f64) {
    let is_exact = kind == Kind::Count && low == high;
    match kind {
        _ if is_exact => (low, high),
        _ if low > 0.0 => (low / factor, high * factor),
        Kind::Difference => {
            let by = (factor - 1.0) * median.abs();
            (low - by, high + by)
        }
        _ => {
            let by = (factor - 1.0) * low.abs().max(high.abs());
            (low - by, high + by)
        }
    }
}

/// How far an interval's ends would have to be moved apart to contain another session's median: 1
/// where they do already.
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

/// Between two of the sessions' medians, such that the next session's lies outside in one case of
/// twenty at most.
fn range_of(mut medians: Vec<f64>) -> (f64, f64) {
    medians.sort_by(f64::total_cmp);
    let left_out = (OUTSIDE_AT_MOST * (medians.len() + 1) as f64 / 2.0).floor() as usize;
    let rank = left_out.max(1) - 1;
    (medians[rank], medians[medians.len() - 1 - rank])
}

#[cfg(test)]
mod tests;
