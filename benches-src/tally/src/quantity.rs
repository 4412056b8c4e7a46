//! Numbers with unit and interval, computed from one record when they are printed.
//!
//! An expression is evaluated within each round, where its cells ran side by side; the median and the interval are those
//! of the rounds' values. So a ratio is paired, and a drift of the whole machine cancels out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, bail};
use observation::{Histogram, Observation, Window};

use crate::cell::Cell;
use crate::core_to_core::APART_NS;
use crate::counted::Count;
use crate::expression::{Expression, Operator, Selector};
use crate::ledger;
use crate::measure::{ELAPSED, QUANTILE, Scope, counter_named};
use crate::plan::matching;
use crate::published::Published;
use crate::record::{Effort, Lost, Record, Run};
use crate::statistics::{self, Estimate};

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds per operation.
    Nanoseconds,
    /// Bytes per operation.
    Bytes,
    /// A count per operation.
    Count,
    /// One quantity over another of the same unit.
    Ratio,
}

/// A number with its unit and interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The unit.
    pub unit: Unit,
    /// Median, interval and rounds.
    pub estimate: Estimate,
    /// Differences below this are no differences, by the experiment's A/A pairs: 0 where it has none, since it counts exactly; nothing
    /// where they ran in too few rounds to tell.
    pub floor: Option<f64>,
}

/// Why there is no number.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// A short word for a box: `not measured`, `unavailable`, `failed`, `full only`, `older plan`, `test run`.
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
struct Series {
    unit: Unit,
    values: Values,
    /// How much of the noise floor each value carries, in the value's own unit; nothing where that is not known.
    floor: Option<f64>,
}

impl Series {
    fn relative_floor(&self) -> Option<f64> {
        self.floor.map(|floor| if floor == 0.0 { 0.0 } else { floor / middle(&self.values).abs() })
    }
}

#[derive(Clone)]
enum Values {
    Constant(f64),
    Rounds(Vec<f64>),
}

impl Record {
    /// Evaluates an expression. The outer error is a mistake in the expression, the inner one a number that is missing.
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
            Ok(Series { unit, values: Values::Rounds(values), floor }) => {
                let estimate = match unit {
                    Unit::Ratio if values.iter().all(|value| *value > 0.0) => statistics::estimate_ratio(&values),
                    _ => statistics::estimate(&values),
                };
                let estimate = estimate.expect("rounds without any value were reported as missing");
                Ok(Ok(Quantity { unit, estimate, floor }))
            }
            Err(missing) => Ok(Err(missing)),
        }
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

    /// The index of the cell that a selector means. Whether the plan has it at all is asked of the plan, before any record is opened: what
    /// a record lacks, another effort would have measured, or a plan that has changed since.
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
                Ok(Series { unit: Unit::Ratio, values: Values::Constant(*number), floor: Some(0.0) })
            }
            Expression::Leaf(leaf) => {
                let index = self.index(leaf).expect("cells that are missing were found out before");
                let seen = rounds.iter().map(|runs| runs[index].observation.as_ref().expect("checked for every round"));
                per_round(seen, &leaf.measure, self.floor_of(&leaf.measure))
            }
            Expression::Binary(a, operator, b) => match both(a, b)? {
                Err(missing) => Err(missing),
                Ok((a, b)) => {
                    let Some(unit) = unit_of(a.unit, *operator, b.unit) else {
                        bail!("{expression} has no unit: {:?} {operator:?} {:?}", a.unit, b.unit);
                    };
                    let values = combine(&a.values, &b.values, |a, b| operator.apply(a, b));
                    let floor = match operator {
                        Operator::Plus | Operator::Minus => a.floor.zip(b.floor).map(|(a, b)| a + b),
                        Operator::Times | Operator::Over => {
                            let relative = a.relative_floor().zip(b.relative_floor()).map(|(a, b)| a + b);
                            relative.map(|share| if share == 0.0 { 0.0 } else { share * middle(&values).abs() })
                        }
                    };
                    Ok(Series { unit, values, floor })
                }
            },
        })
    }

    /// The noise floor that a measure carries: 0 where nothing was run twice.
    fn floor_of(&self, measure: &str) -> Option<f64> {
        if self.header.cells.iter().any(Cell::is_twin) { self.noise_floor(measure) } else { Some(0.0) }
    }

    /// How far the two arms of an A/A pair differ in a measure, at the far end of their ratio's interval; the largest of all
    /// pairs. What has no value of its own in the pair, such as a counter, is as noisy as the time. Nothing where no pair has enough rounds.
    pub fn noise_floor(&self, measure: &str) -> Option<f64> {
        let cells = &self.header.cells;
        let twins = cells.iter().enumerate().filter(|(_, cell)| cell.is_twin());
        let floors = twins.filter_map(|(twin, cell)| {
            let first = cells.iter().position(|other| other.twin() == *cell && !other.is_twin())?;
            let ratio = |(_, runs): (u32, Vec<&Run>)| {
                let (a, b) = (noisy(runs[first], measure)?, noisy(runs[twin], measure)?);
                // Two arms that are alike do not differ, not even where both are 0.
                Some(if a == b { 1.0 } else { a / b })
            };
            let ratios = self.complete_rounds().into_iter().filter_map(ratio);
            let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
            let (low, high) = statistics::estimate_ratio(&ratios)?.interval?;
            Some((1.0 / low).max(high) - 1.0)
        });
        floors.max_by(f64::total_cmp)
    }

    /// Of the processes that an expression stands on, those that failed; nothing where none did.
    pub fn lost_by(&self, expression: &Expression) -> Option<Lost> {
        let cells: BTreeSet<usize> = expression.leaves().into_iter().filter_map(|leaf| self.index(leaf).ok()).collect();
        self.lost(&cells.into_iter().collect::<Vec<_>>())
    }

    /// What the programs themselves distrusted, with how many of the processes said so, and what the session as a whole says against its numbers.
    pub fn doubts(&self) -> Vec<String> {
        let mut counts = BTreeMap::<&str, usize>::new();
        for doubt in self.runs.iter().filter_map(|run| run.observation.as_ref()).flat_map(|seen| &seen.doubts) {
            // What stands before the colon says which doubt it is.
            let kind = doubt.split(':').next().unwrap_or(doubt);
            *counts.entry(kind).or_default() += 1;
        }
        let say = |(doubt, count): (&str, usize)| format!("{doubt}: in {count} of {} processes", self.runs.len());
        let of_session = [self.doubt_of_moving(), self.doubt_of_stops(), self.doubt_of_interruptions()];
        counts.into_iter().map(say).chain(of_session.into_iter().flatten()).collect()
    }

    /// Said where processes stood still: a sample, or a whole process, took seconds longer than others of its kind.
    fn doubt_of_stops(&self) -> Option<String> {
        let mut took: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for run in &self.runs {
            took.entry(run.cell).or_default().extend(run.took_ms.map(|ms| ms as f64));
        }
        let stopped = |run: &&Run| {
            let whole = run.took_ms.is_some_and(|ms| stands_out(ms as f64, &took[&run.cell], STOPPED_MS));
            whole || run.observation.as_ref().is_some_and(|seen| a_sample_stands_out(&seen.samples))
        };
        let stopped = self.runs.iter().filter(stopped).count();
        (stopped > 0).then(|| {
            format!(
                "processes stood still for seconds, stopped by somebody or by the host: {stopped} of {}",
                self.runs.len()
            )
        })
    }

    /// Said where the session was interrupted and gone on with.
    fn doubt_of_interruptions(&self) -> Option<String> {
        let times = self.resumed().count();
        let last = self.resumed().last()?;
        let load = last.load.map_or("an unknown load average".to_owned(), |load| format!("a load average of {load}"));
        let often = if times == 1 { "once".to_owned() } else { format!("{times} times, the last time") };
        Some(format!(
            "the session was begun at {}, interrupted, and gone on with {often} at {}, at {load}: its rounds are not of one piece",
            self.header.before.time, last.time
        ))
    }

    /// Said where the first two CPUs shared a cache at times and at others did not.
    fn doubt_of_moving(&self) -> Option<String> {
        let known: Vec<u64> = self.runs.iter().filter_map(|run| run.core_to_core_ns).collect();
        let apart = known.iter().filter(|ns| **ns >= APART_NS).count();
        let moved = 0 < apart && apart < known.len();
        moved.then(|| {
            format!(
                "the host ran the first two CPUs now on cores that share a cache and now on others, which took {} ns or more to pass a \
                 line of memory on: before {apart} of {} processes",
                APART_NS,
                known.len()
            )
        })
    }
}

/// A pause that nothing in this book makes by itself.
const STOPPED_MS: f64 = 2500.0;

/// Whether one value lies above others by so much, and by three times as much as separates their quarters.
fn stands_out(value: f64, all: &[f64], by: f64) -> bool {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: usize| sorted[(share * sorted.len() / 4).min(sorted.len() - 1)];
    sorted.len() > 2 && value > at(2) + by + 3.0 * (at(3) - at(1))
}

/// Whether a sample took seconds longer than its operations did in the others.
fn a_sample_stands_out(samples: &[Window]) -> bool {
    let each: Vec<f64> = samples.iter().map(|s| s.elapsed_ns as f64 / s.operations as f64).collect();
    samples.iter().zip(&each).any(|(sample, own)| stands_out(*own, &each, STOPPED_MS * 1e6 / sample.operations as f64))
}

fn is_empty(seen: &Observation) -> bool {
    seen.samples.is_empty() && seen.measures.is_empty()
}

/// What an A/A pair compares.
fn noisy(run: &Run, measure: &str) -> Option<f64> {
    let seen = run.observation.as_ref()?;
    let (base, _) = ledger::part(measure);
    let named = seen.measures.get(base).map(|named| ledger::value(seen, named, base).unwrap_or(f64::NAN));
    named.or_else(|| nanoseconds_per_operation(seen))
}

/// The median of one process's samples.
pub fn nanoseconds_per_operation(seen: &Observation) -> Option<f64> {
    let each: Vec<f64> = seen.samples.iter().map(|s| s.elapsed_ns as f64 / s.operations as f64).collect();
    statistics::median(&each)
}

/// One measure of one cell in each of the rounds.
fn per_round<'a>(
    seen: impl Iterator<Item = &'a Observation> + Clone,
    measure: &str,
    floor: Option<f64>,
) -> Result<Series, Missing> {
    let (base, part) = ledger::part(measure);
    let unit = match seen.clone().find_map(|observation| observation.measures.get(base)) {
        Some(_) if part == ledger::Part::Residual => Unit::Ratio,
        Some(named) if named.unit == "ns" => Unit::Nanoseconds,
        Some(named) if named.unit == "B" => Unit::Bytes,
        Some(_) => Unit::Count,
        None if is_time(measure) => Unit::Nanoseconds,
        None => Unit::Count,
    };
    let mut values = Vec::new();
    for observation in seen {
        let named = named_result(observation, measure);
        let value = match measure {
            _ if named.is_some() => named,
            ELAPSED => nanoseconds_per_operation(observation),
            "user_ns" | "system_ns" => cpu_time(observation, measure),
            measure => match measure.strip_prefix(QUANTILE).and_then(|share| share.parse().ok()) {
                Some(share) => quantile(observation.histograms.get("lap"), share)?,
                None => per_operation(observation, measure),
            },
        };
        match value {
            Some(value) => values.push(value),
            None => {
                let reason = observation.unavailable.get(measure).cloned();
                let reason = reason.or_else(|| ledger::too_short(observation, measure));
                let reason = reason.unwrap_or_else(|| match measure {
                    ELAPSED => "its processes timed nothing".to_owned(),
                    measure => format!("the programs do not count {}", measure.replace('_', " ")),
                });
                return Err(Missing::new("unavailable", format!("because {reason}")));
            }
        }
    }
    // An A/A pair carries the noise of both its arms; one cell carries half of it.
    let floor = floor.map(|floor| statistics::median(&values).unwrap_or(0.0).abs() * floor / 2.0);
    Ok(Series { unit, values: Values::Rounds(values), floor })
}

/// Whether a measure that is not a named result is a time.
pub fn is_time(measure: &str) -> bool {
    let counter = counter_named(measure).is_some_and(|counter| counter.unit == Unit::Nanoseconds);
    measure == ELAPSED || counter || measure.starts_with(QUANTILE)
}

/// Whether a counter counts what the whole system does.
fn is_system_wide(counter: &str) -> bool {
    counter_named(counter).is_some_and(|counter| counter.scope == Scope::System)
}

/// A named result. A kind that was not seen while all kinds were counted is an exact 0.
fn named_result(seen: &Observation, measure: &str) -> Option<f64> {
    let counted_none = || {
        let count = Count::named(measure)?;
        seen.measures.contains_key(count.all()).then_some(0.0)
    };
    let (base, _) = ledger::part(measure);
    match seen.measures.get(base) {
        Some(named) => ledger::value(seen, named, measure),
        None => counted_none(),
    }
}

/// The value that this share of single laps does not exceed. A tail needs at least two laps beyond it in each process;
/// the interval over rounds says how little that is.
fn quantile(laps: Option<&Histogram>, share: f64) -> Result<Option<f64>, Missing> {
    let Some(laps) = laps else { return Ok(None) };
    let count: u64 = laps.buckets.iter().map(|(_, count)| count).sum();
    let wanted = (share * count as f64).ceil() as u64;
    if count.saturating_sub(wanted) < 2 {
        return Err(Missing::new(
            "too few laps",
            format!("{count} laps in a process say nothing about its quantile {share}"),
        ));
    }
    let mut seen = 0;
    let reaches = |(_, here): &&(u64, u64)| {
        seen += here;
        seen >= wanted
    };
    Ok(laps.buckets.iter().find(reaches).map(|(bound, _)| *bound as f64))
}

/// CPU time of the median sample, as the time that stands beside it is, in user or in kernel mode. Its split is that of all samples together,
/// since in a single one it may be estimated from a few ticks of the clock.
fn cpu_time(seen: &Observation, mode: &str) -> Option<f64> {
    let of = |window: &Window, mode: &str| window.counters.get(mode).copied();
    let both = |window: &Window| Some(of(window, "user_ns")? + of(window, "system_ns")?);
    let per_operation: Option<Vec<f64>> =
        seen.samples.iter().map(|sample| Some(both(sample)? as f64 / sample.operations as f64)).collect();
    let all: u64 = seen.samples.iter().filter_map(both).sum();
    let in_mode: u64 = seen.samples.iter().filter_map(|sample| of(sample, mode)).sum();
    Some(statistics::median(&per_operation?)? * in_mode as f64 / all.max(1) as f64)
}

/// A counter over all samples of one process. What a system-wide counter does anyway, by the idle window, is taken off.
fn per_operation(seen: &Observation, counter: &str) -> Option<f64> {
    let whole_run = || seen.whole_run.iter().filter(|run| run.counters.contains_key(counter));
    let windows: Vec<&Window> = match seen.samples.first() {
        Some(sample) if sample.counters.contains_key(counter) => seen.samples.iter().collect(),
        _ => whole_run().collect(),
    };
    let operations: u64 = windows.iter().map(|window| window.operations).sum();
    let moved: u64 = windows.iter().map(|window| window.counters.get(counter).copied().unwrap_or(0)).sum();
    if operations == 0 {
        return None;
    }
    let mut moved = moved as f64;
    if is_system_wide(counter) {
        let elapsed: u64 = windows.iter().map(|window| window.elapsed_ns).sum();
        let idle = seen.idle_window.as_ref()?;
        let rate = *idle.counters.get(counter)? as f64 / idle.elapsed_ns as f64;
        moved = (moved - rate * elapsed as f64).max(0.0);
    }
    Some(moved / operations as f64)
}

/// The unit of two combined; none where they do not fit.
fn unit_of(a: Unit, operator: Operator, b: Unit) -> Option<Unit> {
    use Unit::{Bytes, Count, Nanoseconds, Ratio};
    match (a, operator, b) {
        (a, Operator::Plus | Operator::Minus, b) => (a == b).then_some(a),
        (a, Operator::Over, b) if a == b => Some(Ratio),
        // So much each, times so many.
        (Nanoseconds, Operator::Times, Count | Ratio) | (Count | Ratio, Operator::Times, Nanoseconds) => {
            Some(Nanoseconds)
        }
        (Bytes, Operator::Times, Count | Ratio) | (Count | Ratio, Operator::Times, Bytes) => Some(Bytes),
        (unit @ (Nanoseconds | Bytes), Operator::Over, Count | Ratio) => Some(unit),
        // So many of it in so much.
        (Ratio, Operator::Over, Nanoseconds | Bytes) => Some(Count),
        (Count, Operator::Times | Operator::Over, Ratio) | (Ratio, Operator::Times, Count) => Some(Count),
        (Ratio, Operator::Times, Ratio) => Some(Ratio),
        _ => None,
    }
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{cell, end, header, run};
    use crate::record::{Effort, Failure, Header};

    /// Rounds in which everything drifts upwards, but a stays twice b; c is a's twin and differs from it by one percent.
    fn drifting() -> Record {
        let (a, b) = (cell("a", "free"), cell("b", "free"));
        let cells = vec![a.clone(), b, a.twin(), cell("empty", "free")];
        let mut runs = Vec::new();
        for round in 0..8 {
            let drift = 1.0 + f64::from(round) / 10.0;
            for (index, ns) in [2000.0, 1000.0, 2020.0].into_iter().enumerate() {
                runs.push(run(round, index, ns * drift));
            }
            let mut unavailable = run(round, 3, 1.0);
            let seen = unavailable.observation.as_mut().unwrap();
            seen.samples.clear();
            seen.unavailable.insert("elapsed".to_owned(), "of <b>limits</b>".to_owned());
            runs.push(unavailable);
        }
        Record { header: header(cells), runs, end: Some(end()) }
    }

    #[test]
    fn that_the_host_moved_the_cpus_is_a_doubt_and_that_they_are_always_apart_is_none() {
        let mut record = drifting();
        let mut doubts = |ns: fn(usize) -> Option<u64>| {
            record.runs.iter_mut().enumerate().for_each(|(number, run)| run.core_to_core_ns = ns(number));
            record.doubts()
        };
        assert!(doubts(|_| None).is_empty() && doubts(|_| Some(45)).is_empty() && doubts(|_| Some(200)).is_empty());
        let moved = doubts(|number| (number > 1).then_some(if number < 10 { 200 } else { 45 }));
        assert!(moved[0].ends_with("before 8 of 30 processes"), "{moved:?}");
    }

    fn evaluate(record: &Record, text: &str) -> Measured {
        record.evaluate(&Expression::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn a_paired_ratio_does_not_see_the_drift() {
        let record = drifting();
        let alone = evaluate(&record, "a").unwrap();
        assert!(alone.estimate.relative_half_width().unwrap() > 0.2);
        assert!((alone.estimate.median - 2700.0).abs() < 1.0);
        let ratio = evaluate(&record, "a / b").unwrap();
        assert_eq!(ratio.unit, Unit::Ratio);
        assert!((ratio.estimate.median - 2.0).abs() < 1e-3);
        assert!(ratio.estimate.relative_half_width().unwrap() < 1e-3);
        assert_eq!(ratio.estimate.rounds, 8);
    }

    #[test]
    fn differences_and_counters() {
        let record = drifting();
        let beyond = evaluate(&record, "(a - b) / b").unwrap();
        assert!((beyond.estimate.median - 1.0).abs() < 1e-3);
        let switches = evaluate(&record, "a.voluntary_switches").unwrap();
        assert_eq!((switches.unit, switches.estimate.median), (Unit::Count, 1.0));
        let priced = evaluate(&record, "b + a.voluntary_switches * (a - b)").unwrap();
        assert_eq!(priced.unit, Unit::Nanoseconds);
        assert!((priced.estimate.median - 2700.0).abs() < 1.0, "{priced:?}");
        let missing = evaluate(&record, "a.migrations").unwrap_err();
        assert_eq!(missing.word, "unavailable");
    }

    #[test]
    fn the_noise_floor_is_the_far_end_of_the_a_a_pair() {
        let record = drifting();
        let floor = record.noise_floor("elapsed").unwrap();
        assert!((floor - 0.01).abs() < 1e-3, "{floor}");
        let ratio = evaluate(&record, "a / b").unwrap();
        assert!((ratio.floor.unwrap() - 2.0 * floor).abs() < 1e-3, "a ratio of two cells carries the whole floor");
        let difference = evaluate(&record, "a - b").unwrap();
        assert!((difference.floor.unwrap() - 4050.0 * floor / 2.0).abs() < 1.0, "{difference:?}");
    }

    #[test]
    fn a_noise_floor_that_is_not_known_is_not_taken_for_none() {
        let mut record = drifting();
        for run in record.runs.iter_mut().filter(|run| run.cell == 2 && run.round > 4) {
            run.observation = None;
        }
        let ratio = evaluate(&record, "a / b").unwrap();
        assert!(ratio.estimate.interval.is_some(), "the pair alone lacks rounds");
        assert_eq!(ratio.floor, None);
        assert_eq!(evaluate(&record, "a - b").unwrap().floor, None);
        assert_eq!(evaluate(&record, "2 * a").unwrap().floor, None);
        record.header.cells[2] = cell("c", "free");
        assert_eq!(evaluate(&record, "a / b").unwrap().floor, Some(0.0), "nothing was run twice");
    }

    #[test]
    fn two_arms_that_have_none_of_something_do_not_differ() {
        let mut record = drifting();
        for run in &mut record.runs {
            let none = observation::Measure { unit: "1".to_owned(), values: vec![0.0] };
            run.observation.as_mut().unwrap().measures.insert("refused".to_owned(), none);
        }
        assert_eq!(record.noise_floor("refused"), Some(0.0));
    }

    #[test]
    fn what_is_missing_says_why() {
        let record = drifting();
        let missing = evaluate(&record, "a / empty").unwrap_err();
        assert_eq!((missing.word, missing.reason.as_str()), ("unavailable", "because of <b>limits</b>"));
        let missing = evaluate(&record, "a[one-cpu]").unwrap_err();
        assert_eq!(missing.word, "full only");
        assert_eq!(evaluate(&record, "somebody").unwrap_err().word, "full only", "whole programs are full only too");
        let full = Record { header: Header { effort: Effort::Full, ..record.header.clone() }, ..record.clone() };
        let missing = evaluate(&full, "nobody").unwrap_err();
        assert_eq!(
            (missing.word, missing.reason.as_str()),
            ("older plan", "the plan had no cell nobody when this was measured")
        );
        let seconds = Expression::parse("a * b").unwrap();
        assert!(full.evaluate(&seconds).is_err(), "a mistake is no missing number");

        let mut failed = drifting();
        for run in failed.runs.iter_mut().filter(|run| run.cell == 1) {
            run.observation = None;
            run.failure = Some(Failure { exit: "signal 11".to_owned(), last_lines: vec!["boom".to_owned()] });
        }
        let missing = evaluate(&failed, "a / b").unwrap_err();
        assert_eq!(missing.word, "failed");
        assert!(missing.reason.contains("signal 11. boom"), "{}", missing.reason);
        assert!(evaluate(&failed, "a").is_ok(), "one cell's failure takes nothing from the others");
    }

    #[test]
    fn a_test_run_has_no_results() {
        let mut record = drifting();
        record.header.effort = Effort::Test;
        assert_eq!(evaluate(&record, "a").unwrap_err().word, "test run");
    }

    #[test]
    fn too_few_rounds_have_no_interval() {
        let mut record = drifting();
        record.runs.retain(|run| run.round < 5);
        assert_eq!(evaluate(&record, "a / b").unwrap().estimate.interval, None);
    }

    #[test]
    fn cpu_time_is_the_median_samples_and_its_split_that_of_all() {
        // On one CPU that is always busy it is the time that passed, however uneven the samples and however coarse their split.
        let window = |elapsed_ns, user_ns: u64| Window {
            operations: 10,
            elapsed_ns,
            counters: [("user_ns".to_owned(), user_ns), ("system_ns".to_owned(), elapsed_ns - user_ns)].into(),
        };
        let samples = vec![window(100, 0), window(110, 110), window(400, 0), window(90, 0), window(300, 140)];
        let seen = Observation { samples, ..Observation::default() };
        let [user, system] = ["user_ns", "system_ns"].map(|mode| cpu_time(&seen, mode).unwrap());
        assert_eq!((user, system), (11.0 * 0.25, 11.0 * 0.75));
        assert_eq!(Some(user + system), nanoseconds_per_operation(&seen));
        assert_eq!(cpu_time(&Observation::default(), "user_ns"), None);
    }

    #[test]
    fn an_idle_machines_interrupts_are_not_the_programs() {
        let window = |operations, elapsed_ns, count: u64| Window {
            operations,
            elapsed_ns,
            counters: [("system_idle_entries".to_owned(), count)].into(),
        };
        let seen = Observation {
            samples: vec![window(100, 1000, 250)],
            idle_window: Some(window(0, 2000, 100)),
            ..Observation::default()
        };
        assert_eq!(per_operation(&seen, "system_idle_entries"), Some(2.0), "50 of the 250 would have come anyway");
        assert_eq!(per_operation(&seen, "migrations"), None);
    }

    #[test]
    fn named_results_are_read_as_they_stand_and_kinds_that_were_not_seen_are_exactly_none() {
        let mut record = drifting();
        for run in &mut record.runs {
            let named = |unit: &str, value| observation::Measure { unit: unit.to_owned(), values: vec![value] };
            let seen = run.observation.as_mut().unwrap();
            seen.measures.insert("clock_cost".to_owned(), named("ns", 20.0));
            if run.cell != 1 {
                seen.measures.insert("calls".to_owned(), named("1", 2.0));
                seen.measures.insert("calls_recvfrom".to_owned(), named("1", 2.0));
            }
        }
        let clock = evaluate(&record, "a.clock_cost").unwrap();
        assert_eq!((clock.unit, clock.estimate.median), (Unit::Nanoseconds, 20.0));
        let calls = evaluate(&record, "a.calls_recvfrom").unwrap();
        assert_eq!((calls.unit, calls.estimate.interval), (Unit::Count, Some((2.0, 2.0))));
        let none = evaluate(&record, "a.calls_sendto").unwrap();
        assert_eq!((none.unit, none.estimate.interval), (Unit::Count, Some((0.0, 0.0))));
        assert_eq!(evaluate(&record, "a.calls_sendto / a.calls").unwrap().estimate.median, 0.0);
        assert_eq!(evaluate(&record, "a.calls / a.calls_sendto").unwrap_err().word, "no ratio");
        assert_eq!(evaluate(&record, "a.calls_sendto / a.calls_sendto").unwrap_err().word, "no ratio");
        assert_eq!(evaluate(&record, "b.calls_sendto").unwrap_err().word, "unavailable", "b's calls were not counted");
    }

    #[test]
    fn quantiles_of_single_laps_and_when_there_are_too_few() {
        let laps = Histogram { unit: "ns".to_owned(), buckets: vec![(10, 50), (20, 40), (30, 8), (1000, 2)] };
        let at = |share| quantile(Some(&laps), share).unwrap().unwrap();
        assert_eq!((at(0.5), at(0.51), at(0.9), at(0.98)), (10.0, 20.0, 20.0, 30.0));
        assert_eq!(quantile(Some(&laps), 0.999).unwrap_err().word, "too few laps");
        let thirty = Histogram { unit: "ns".to_owned(), buckets: (1..=30).map(|ns| (ns, 1)).collect() };
        assert_eq!(quantile(Some(&thirty), 0.93).unwrap(), Some(28.0), "two lie beyond it");
        assert_eq!(quantile(Some(&thirty), 0.95).unwrap_err().word, "too few laps", "one lies beyond it");
        assert_eq!(quantile(None, 0.5).unwrap(), None);
    }

    #[test]
    fn units_that_do_not_fit_are_mistakes() {
        let record = drifting();
        assert!(record.evaluate(&Expression::parse("a - a.voluntary_switches").unwrap()).is_err());
    }
}
