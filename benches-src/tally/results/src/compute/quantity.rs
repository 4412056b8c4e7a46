//! Numbers with unit and interval, computed from one record when they are printed.
//!
//! An expression is evaluated within each round, where its cells ran side by side; the median and
//! the interval are those of the rounds' values. So a ratio is paired, and a drift of the whole
//! machine cancels out.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Result, bail, ensure};

use super::kind::Kind;
use super::series::{nanoseconds_per_operation, per_round};
use crate::book::cell::Cell;
use crate::book::experiment::matching;
use crate::book::expression::{Expression, Operator, Selector, unit_of};
use crate::book::published::Published;
use crate::book::reading;
use crate::book::unit::Unit;
use crate::compute::ledger;
use crate::record::seen::Seen;
use crate::record::{Effort, Lost, Record, Run};
use crate::statistics::{self, Estimate};

/// A number with its unit and interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    pub unit: Unit,
    /// Median, interval and rounds. As it is printed, the median is over sessions, and the interval
    /// holds between them.
    pub estimate: Estimate,
    /// The same over the rounds of the one session that is shown.
    pub session: Estimate,
    /// Over how many sessions of the machine the printed median is.
    pub sessions: usize,
    /// By how much the experiment's A/A pairs show the instrument itself to be biased, in the
    /// quantity's own unit.
    pub bias: f64,
}

impl Quantity {
    /// The interval against which claims are judged: the printed one, and the instrument's own bias
    /// to either side.
    pub fn judged(&self) -> Option<(f64, f64)> {
        self.estimate.interval.map(|(low, high)| (low - self.bias, high + self.bias))
    }

    /// Whether a ratio is more than 1, or less, for certain.
    pub fn is_clear(&self) -> bool {
        self.judged().is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// The word of a percentile that varies too much to be printed.
pub const TOO_UNCERTAIN: &str = "too uncertain";

/// Why there is no number.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// A short word for a box: `not measured`, `unavailable`, `failed`, `full only`, `older plan`,
    /// `test run`.
    pub word: &'static str,
    /// The reason, and where there is one the cure.
    pub reason: String,
}

impl Missing {
    /// So named, for this reason.
    pub fn new(word: &'static str, reason: impl Into<String>) -> Self {
        Self { word, reason: reason.into() }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}: {}", self.word, self.reason)
    }
}

/// A quantity or why there is none. Errors of directives are neither: they fail the build.
pub type Measured = Result<Quantity, Missing>;

/// One value per round, or one that holds in all of them.
#[derive(Clone)]
pub(super) struct Series {
    pub(super) unit: Unit,
    pub(super) values: Values,
    /// How much of the instrument's bias the values carry, in their own unit.
    pub(super) bias: f64,
}

impl Series {
    fn relative_bias(&self) -> f64 {
        if self.bias == 0.0 { 0.0 } else { self.bias / middle(&self.values).abs() }
    }
}

#[derive(Clone)]
pub(super) enum Values {
    Constant(f64),
    Rounds(Vec<f64>),
}

impl Record {
    /// Evaluates an expression. The outer error is a mistake in the expression, the inner one a
    /// number that is missing.
    pub fn evaluate(&self, expression: &Expression) -> Result<Measured> {
        if self.header.effort == Effort::Test {
            return Ok(Err(Missing::new("test run", "a test run's figures are no results")));
        }
        self.evaluate_any_effort(expression)
    }

    /// The same without regard to effort, for what decides about rounds and is never printed.
    pub fn evaluate_any_effort(&self, expression: &Expression) -> Result<Measured> {
        let rounds = match self.rounds_with(expression) {
            Ok(rounds) => rounds,
            Err(missing) => return Ok(Err(missing)),
        };
        let series = self.series(expression, &rounds)?;
        match series {
            Ok(Series { values: Values::Constant(_), .. }) => bail!("{expression} measures nothing"),
            Ok(Series { values: Values::Rounds(values), .. }) if !values.iter().all(|value| value.is_finite()) => {
                Ok(Err(Missing::new("no ratio", format!("{expression} divides by 0"))))
            }
            Ok(Series { unit, values: Values::Rounds(values), bias }) => {
                let estimate = estimate_of(unit, &values).expect("rounds without any value were reported as missing");
                if let Some(missing) = self.uncertain_percentile(expression)? {
                    return Ok(Err(missing));
                }
                if unit == Unit::Nanoseconds && Kind::of(expression) == Kind::Tail && !says_something(&estimate) {
                    let shown = estimate.interval.map(|(low, high)| (low / estimate.median, high / estimate.median));
                    let (low, high) = shown.unwrap_or_default();
                    return Ok(Err(Missing::new(
                        TOO_UNCERTAIN,
                        format!(
                            "from round to round {expression} lies between {low:.1} and {high:.1} times its median, \
                             so we print no percentile"
                        ),
                    )));
                }
                Ok(Ok(Quantity { unit, estimate, session: estimate, sessions: 1, bias }))
            }
            Err(missing) => Ok(Err(missing)),
        }
    }

    /// Why a formula says nothing if one of its percentiles says nothing alone.
    fn uncertain_percentile(&self, expression: &Expression) -> Result<Option<Missing>> {
        if matches!(expression, Expression::Leaf(_)) || Kind::of(expression) != Kind::Tail {
            return Ok(None);
        }
        for leaf in expression.leaves() {
            let alone = self.evaluate_any_effort(&Expression::Leaf(leaf.clone()))?;
            if let Err(missing) = alone
                && missing.word == TOO_UNCERTAIN
            {
                return Ok(Some(missing));
            }
        }
        Ok(None)
    }

    /// The value of every round, in the order of rounds; nothing where there is no number.
    pub fn rounds_of(&self, expression: &Expression) -> Result<Option<Vec<f64>>> {
        let Ok(rounds) = self.rounds_with(expression) else { return Ok(None) };
        Ok(match self.series(expression, &rounds)? {
            Ok(Series { values: Values::Rounds(values), .. }) => Some(values),
            Ok(Series { values: Values::Constant(_), .. }) | Err(_) => None,
        })
    }

    /// The complete rounds in which every cell of the expression was measured.
    fn rounds_with(&self, expression: &Expression) -> Result<Vec<Vec<&Run>>, Missing> {
        let mut rounds: Vec<Vec<&Run>> = self.complete_rounds().into_iter().map(|(_, runs)| runs).collect();
        for leaf in expression.leaves() {
            let index = self.index(leaf)?;
            let measured = |runs: &Vec<&Run>| runs[index].observation.as_ref().is_some_and(|seen| !is_empty(seen));
            let before = rounds.len();
            rounds.retain(measured);
            if rounds.is_empty() {
                return Err(self.why_not(index, before));
            }
        }
        Ok(rounds)
    }

    /// The index of the cell that a selector means. Whether the plan has it at all is asked of the
    /// plan, before any record is opened: what a record lacks, another effort would have measured,
    /// or a plan that has changed since.
    fn index(&self, leaf: &Selector) -> Result<usize, Missing> {
        let cells = &self.header.cells;
        match matching(cells, leaf)[..] {
            [one] => Ok(cells.iter().position(|own| own == one).expect("it is one of them")),
            [] if self.header.effort != Effort::Full => {
                Err(Missing::new("full only", "it is measured with effort = full"))
            }
            _ => Err(Missing::new("older plan", format!("the plan had no cell {leaf} when this was measured"))),
        }
    }

    fn why_not(&self, index: usize, complete_rounds: usize) -> Missing {
        let cell = &self.header.cells[index];
        let runs = || self.runs.iter().rev().filter(|run| run.cell == index);
        if let Some(failure) = runs().find_map(|run| run.failure.as_ref()) {
            let last_lines = failure.last_lines.join(" / ");
            return Missing::new("failed", format!("{cell}: {}. {last_lines}", failure.exit));
        }
        let unavailable = |run: &Run| run.observation.as_ref()?.unavailable.get("elapsed").cloned();
        match runs().find_map(unavailable) {
            Some(reason) => Missing::new("unavailable", format!("because {reason}")),
            None => Missing::new("not measured", format!("{cell} has no sample in any of {complete_rounds} rounds")),
        }
    }

    fn series(&self, expression: &Expression, rounds: &[Vec<&Run>]) -> Result<Result<Series, Missing>> {
        let both = |a: &Expression, b: &Expression| -> Result<Result<(Series, Series), Missing>> {
            match (self.series(a, rounds)?, self.series(b, rounds)?) {
                (Ok(a), Ok(b)) => Ok(Ok((a, b))),
                (Err(missing), _) | (_, Err(missing)) => Ok(Err(missing)),
            }
        };
        Ok(match expression {
            Expression::Number(number) => {
                Ok(Series { unit: Unit::Ratio, values: Values::Constant(*number), bias: 0.0 })
            }
            Expression::Leaf(leaf) => {
                let index = self.index(leaf).expect("cells that are missing were found out before");
                let seen = rounds.iter().map(|runs| runs[index].observation.as_ref().expect("checked for every round"));
                per_round(seen, &leaf.measure, self.bias(&self.header.cells[index], &leaf.measure))
            }
            Expression::Binary(a, operator, b) => match both(a, b)? {
                Err(missing) => Err(missing),
                Ok((a, b)) => {
                    let Some(unit) = unit_of(a.unit, *operator, b.unit) else {
                        bail!("{expression} has no unit: {} {} {}", a.unit, operator.sign(), b.unit);
                    };
                    if *operator == Operator::Over && may_be_either_side_of_0(&b) {
                        return Ok(Err(Missing::new("no ratio", "what it divides by may be 0".to_owned())));
                    }
                    let values = combine(&a.values, &b.values, |a, b| operator.apply(a, b));
                    let bias = match operator {
                        Operator::Plus | Operator::Minus => a.bias + b.bias,
                        Operator::Times | Operator::Over => match a.relative_bias() + b.relative_bias() {
                            0.0 => 0.0,
                            share => share * middle(&values).abs(),
                        },
                    };
                    Ok(Series { unit, values, bias })
                }
            },
            Expression::In(unit, formula) => {
                let series = self.series(formula, rounds)?;
                if let Ok(own) = &series {
                    ensure!(own.unit == *unit, "{formula} is said to be in {unit}, and comes to {}", own.unit);
                }
                series
            }
        })
    }

    /// By which share the two arms of an A/A pair of this program, in this placement and condition,
    /// differ beyond what chance explains. Nothing where there is no such pair, since one of
    /// another program or placement says nothing of this.
    fn bias(&self, cell: &Cell, measure: &str) -> f64 {
        let is_own = |own: &Cell| {
            own.program == cell.program && own.placement == cell.placement && own.condition == cell.condition
        };
        self.pairs_of(measure, is_own).map(|(_, ratio)| beyond_chance(&ratio)).fold(0.0, f64::max)
    }

    /// The A/A pairs: each a cell, and what it came to over itself, within rounds. What has no
    /// value of its own in the pair, such as a counter, is as biased as the time.
    pub fn pairs<'a>(&'a self, measure: &'a str) -> Vec<(&'a Cell, Estimate)> {
        self.pairs_of(measure, |_| true).collect()
    }

    fn pairs_of<'a>(
        &'a self,
        measure: &'a str,
        is_wanted: impl Fn(&Cell) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a Cell, Estimate)> {
        let cells = &self.header.cells;
        let firsts = cells.iter().enumerate().filter(move |(_, cell)| cell.condition.is_none() && is_wanted(cell));
        firsts.filter_map(move |(first, cell)| {
            let twin = cells.iter().position(|own| own.is_twin() && *own == cell.twin())?;
            Some((cell, self.ratio_of_arms(first, twin, measure)?))
        })
    }

    fn ratio_of_arms(&self, first: usize, twin: usize, measure: &str) -> Option<Estimate> {
        let ratio = |(_, runs): (u32, Vec<&Run>)| {
            let (a, b) = (noisy(runs[first], measure)?, noisy(runs[twin], measure)?);
            // Two arms that are alike do not differ, not even where both are 0.
            Some(if a == b { 1.0 } else { a / b })
        };
        let ratios = self.complete_rounds().into_iter().filter_map(ratio);
        statistics::estimate_ratio(&ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect::<Vec<_>>())
    }

    /// Of the processes that an expression stands on, those that failed; nothing where none did.
    pub fn lost_by(&self, expression: &Expression) -> Option<Lost> {
        let cells: BTreeSet<usize> = expression.leaves().into_iter().filter_map(|leaf| self.index(leaf).ok()).collect();
        self.lost(&cells.into_iter().collect::<Vec<_>>())
    }
}

/// The estimate of values in this unit: that of ratios is on the logarithmic scale.
pub(super) fn estimate_of(unit: Unit, values: &[f64]) -> Option<Estimate> {
    match unit {
        Unit::Ratio if values.iter().all(|value| *value > 0.0) => statistics::estimate_ratio(values),
        _ => statistics::estimate(values),
    }
}

/// Whether a percentile's own interval is narrower than a factor of two either way.
fn says_something(estimate: &Estimate) -> bool {
    let median = estimate.median;
    estimate.interval.is_none_or(|(low, high)| median <= 2.0 * low && high <= 2.0 * median)
}

/// How far a ratio's interval lies from 1, as a share; nothing where it contains 1, or where there
/// is none.
pub fn beyond_chance(ratio: &Estimate) -> f64 {
    ratio.interval.map_or(0.0, |(low, high)| (low - 1.0).max(1.0 / high - 1.0).max(0.0))
}

/// Whether a divisor's interval reaches from below 0 to above it: what is divided by it may be
/// anything.
fn may_be_either_side_of_0(divisor: &Series) -> bool {
    let Values::Rounds(values) = &divisor.values else { return false };
    statistics::estimate(values).and_then(|own| own.interval).is_some_and(|(low, high)| low < 0.0 && high > 0.0)
}

fn is_empty(seen: &Seen) -> bool {
    seen.timed.is_none() && seen.measures.is_empty()
}

/// What an A/A pair compares.
fn noisy(run: &Run, measure: &str) -> Option<f64> {
    let seen = run.observation.as_ref()?;
    let (base, _) = reading::part(measure);
    let named = seen.measures.get(base).map(|named| ledger::value(seen, named, base).unwrap_or(f64::NAN));
    named.or_else(|| nanoseconds_per_operation(seen))
}

fn combine(a: &Values, b: &Values, operation: impl Fn(f64, f64) -> f64) -> Values {
    match (a, b) {
        (Values::Constant(a), Values::Constant(b)) => Values::Constant(operation(*a, *b)),
        (Values::Constant(a), Values::Rounds(b)) => Values::Rounds(b.iter().map(|b| operation(*a, *b)).collect()),
        (Values::Rounds(a), Values::Constant(b)) => Values::Rounds(a.iter().map(|a| operation(*a, *b)).collect()),
        (Values::Rounds(a), Values::Rounds(b)) => {
            Values::Rounds(a.iter().zip(b).map(|(a, b)| operation(*a, *b)).collect())
        }
    }
}

fn middle(values: &Values) -> f64 {
    match values {
        Values::Constant(value) => *value,
        Values::Rounds(values) => statistics::median(values).unwrap_or(f64::NAN),
    }
}

/// An expression on published figures: times in nanoseconds, sizes in bytes, counts, and ratios.
pub fn evaluate_published(expression: &Expression, published: &Published) -> Result<(f64, Unit)> {
    Ok(match expression {
        Expression::Number(number) => (*number, Unit::Ratio),
        Expression::Leaf(leaf) => published.figure(&leaf.name)?.1.quantity(),
        Expression::Binary(a, operator, b) => {
            let (a, a_unit) = evaluate_published(a, published)?;
            let (b, b_unit) = evaluate_published(b, published)?;
            // A factor in the plan has no unit of its own.
            let unit = unit_of(a_unit, *operator, b_unit).unwrap_or(a_unit);
            (operator.apply(a, b), unit)
        }
        Expression::In(_, formula) => evaluate_published(formula, published)?,
    })
}

#[cfg(test)]
mod tests;
