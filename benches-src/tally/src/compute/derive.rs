//! What sessions of one machine differ by, derived from pairs of them: the factor by which an interval of one has to be widened so that it
//! contains the other's median in 95 of 100 cases. Nothing is assumed of how they differ.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::between::{Between, Factor, Kind, factor_needed};
use super::quantity::Quantity;
use crate::book::cell::Cell;
use crate::book::expression::Expression;
use crate::book::measure::ELAPSED;
use crate::record::{Effort, Record};
use crate::statistics;

/// The share of pairs that an interval is to hold for.
const COVERED: f64 = 0.95;

/// So many numbers, two of each pair, from so many pairs of sessions are the fewest that say where the last twentieth begins.
const FEWEST_NUMBERS: usize = 78;
const FEWEST_PAIRS_OF_SESSIONS: usize = 6;

/// The interval of one session, held against the median of another.
struct Held {
    kind: Kind,
    /// Its chapter and its experiment.
    within: [String; 2],
    /// Which pair of sessions, by its place among them.
    pair: usize,
    /// When the earlier of them began, and the later.
    began: (String, String),
    /// The factor that is needed.
    needs: f64,
}

/// What is found while sessions are read.
#[derive(Default)]
pub struct Derivation {
    held: Vec<Held>,
    /// How many pairs of sessions.
    pairs: usize,
    sessions: usize,
    machines: BTreeMap<String, usize>,
    until: String,
    correlations: Vec<f64>,
}

impl Derivation {
    /// Takes in the sessions of one machine's experiment, in their order. `named` are the further quantities that its record is asked for.
    pub fn add(&mut self, machine: &str, sessions: &[Record], named: &[Expression]) -> Result<()> {
        for (earlier, later) in pairs(sessions) {
            self.hold(earlier, later, named)?;
            self.pairs += 1;
            *self.machines.entry(machine.to_owned()).or_default() += 1;
        }
        for session in sessions {
            self.correlations.extend(correlations(session)?);
            self.until = self.until.clone().max(session.header.before.time.clone());
        }
        self.sessions += sessions.len();
        Ok(())
    }

    /// Holds either session's intervals against the other's medians, of all that both can be asked for.
    fn hold(&mut self, earlier: &Record, later: &Record, named: &[Expression]) -> Result<()> {
        let began = [earlier, later].map(|record| record.header.before.time.clone());
        for expression in asked_of(earlier, later, named)? {
            // What one of them lacks, or cannot be asked any more, is compared with nothing.
            let value = |record: &Record| record.evaluate(&expression).ok().and_then(Result::ok);
            let (Some(a), Some(b)) = (value(earlier), value(later)) else { continue };
            let needs = |own: &Quantity, other: &Quantity| {
                let kind = Kind::of_number(&expression, &own.estimate);
                Some((kind, factor_needed(kind, &own.estimate, own.estimate.interval?, other.estimate.median)))
            };
            // What is called and how many instructions there are, changes with what stands beneath the listings, and with nothing else.
            let is_other =
                Kind::of(&expression) == Kind::Calls && earlier.header.sources.beneath != later.header.sources.beneath;
            let skipped = is_other || is_exact(&a, &b);
            if let (Some(first), Some(second), false) = (needs(&a, &b), needs(&b, &a), skipped) {
                let began = (began[0].clone(), began[1].clone());
                let held = |(kind, needs)| {
                    let within = [later.header.chapter.clone(), later.header.experiment.clone()];
                    Held { kind, within, pair: self.pairs, began: began.clone(), needs }
                };
                self.held.extend([held(first), held(second)]);
            }
        }
        Ok(())
    }

    /// What it comes to. What was found in the earlier half of the pairs is tried on the later half.
    pub fn end(self, derived: String) -> Between {
        let (all, held) = (&self.correlations, self.held);
        let correlation = if all.is_empty() { 0.0 } else { three_digits(all.iter().sum::<f64>() / all.len() as f64) };
        Between {
            derived,
            until: self.until,
            sessions: self.sessions,
            machines: self.machines,
            correlation,
            parts: 0,
            parts_changed: 0,
            parts_contradicted: 0,
            too_narrow: three_digits(((1.0 + correlation) / (1.0 - correlation)).sqrt()),
            kinds: Kind::ALL.into_iter().flat_map(|kind| factors(kind, &held)).collect(),
        }
    }
}

/// Sessions in the order in which they began, each once however often it was exported. Test runs are none.
pub fn in_order(mut sessions: Vec<Record>) -> Vec<Record> {
    sessions.retain(|record| record.header.effort != Effort::Test);
    let began = |record: &Record| record.header.before.time.clone();
    sessions.sort_by_key(began);
    sessions.dedup_by_key(|record| began(record));
    sessions
}

/// Every two of these that ran the same listings on the same machine, the earlier first.
pub fn pairs(sessions: &[Record]) -> impl Iterator<Item = (&Record, &Record)> {
    let with_later = |(at, later)| sessions[..at].iter().map(move |earlier| (earlier, later));
    sessions
        .iter()
        .enumerate()
        .flat_map(with_later)
        .filter(|(earlier, later)| earlier.header.is_comparable(&later.header))
}

/// Everything that both sessions can be asked for: each cell's measures, and the named quantities that are more than one.
fn asked_of(earlier: &Record, later: &Record, named: &[Expression]) -> Result<Vec<Expression>> {
    let mut asked: Vec<Expression> = Vec::new();
    for (cell, measures) in measures(later).into_iter().filter(|(cell, _)| earlier.header.cells.contains(cell)) {
        for measure in measures {
            asked.push(Expression::parse(&format!("{cell}.{measure}"))?);
        }
    }
    asked.extend(named.iter().filter(|expression| expression.leaves().len() > 1).cloned());
    Ok(asked)
}

/// What both sessions found alike in every round says nothing of how far others move.
fn is_exact(a: &Quantity, b: &Quantity) -> bool {
    let exact = |own: &Quantity| own.estimate.interval.is_some_and(|(low, high)| low == high);
    exact(a) && exact(b)
}

/// What each cell can be asked for: its time where it was timed, and else whatever its programs report.
fn measures(record: &Record) -> Vec<(&Cell, BTreeSet<String>)> {
    let mut measures: Vec<_> = record.header.cells.iter().map(|cell| (cell, BTreeSet::new())).collect();
    for run in &record.runs {
        let Some(seen) = &run.observation else { continue };
        let (_, own) = &mut measures[run.cell];
        match seen.timed.is_none() {
            false => drop(own.insert(ELAPSED.to_owned())),
            // What the harness says of its own clock is no result.
            true => own.extend(seen.measures.keys().filter(|name| !name.starts_with("clock_")).cloned()),
        }
    }
    measures
}

/// The factor of a kind in all chapters, and in each chapter and experiment of which there are enough pairs.
fn factors(kind: Kind, held: &[Held]) -> Vec<Factor> {
    let places: BTreeSet<&str> = held.iter().flat_map(|held| &held.within).map(String::as_str).collect();
    let each = places.into_iter().map(|place| factor(kind, Some(place), held));
    [factor(kind, None, held)].into_iter().chain(each.filter(|own| own.factor.is_some())).collect()
}

fn factor(kind: Kind, within: Option<&str>, held: &[Held]) -> Factor {
    let is_own =
        |held: &&Held| held.kind == kind && within.is_none_or(|place| held.within.iter().any(|own| own == place));
    let own: Vec<&Held> = held.iter().filter(is_own).collect();
    let pairs: BTreeSet<(&str, usize)> = own.iter().map(|held| (held.began.1.as_str(), held.pair)).collect();
    // The earlier half of the pairs was complete at this moment; what begins after it is tried. What reaches over it belongs to neither.
    let complete = pairs.iter().nth((pairs.len() / 2).saturating_sub(1)).map_or("", |(began, _)| began);
    let before = needs(own.iter().filter(|held| held.began.1.as_str() <= complete));
    let later: Vec<&Held> = own.iter().filter(|held| held.began.0.as_str() > complete).copied().collect();
    let after = needs(later.iter());
    let all = needs(own.iter());
    // A trial is no more than that, and says how many it stands on.
    let of_earlier = if before.len() >= FEWEST_NUMBERS { twentieth(before) } else { None };
    let covered = |factor: f64| share(&after, |needed| needed <= factor);
    Factor {
        kind,
        within: within.map(str::to_owned),
        pairs: own.len() / 2,
        pairs_of_sessions: pairs.len(),
        missed: share(&all, |needed| needed > 1.0),
        factor: known(&own),
        factor_of_earlier: of_earlier,
        tried_from: complete.to_owned(),
        tried: after.len(),
        tried_pairs_of_sessions: later.iter().map(|held| held.pair).collect::<BTreeSet<_>>().len(),
        covered: of_earlier.filter(|_| !after.is_empty()).map(covered),
    }
}

fn needs<'a>(held: impl Iterator<Item = &'a &'a Held>) -> Vec<f64> {
    held.map(|held| held.needs).collect()
}

fn share(of: &[f64], is_so: impl Fn(f64) -> bool) -> f64 {
    if of.is_empty() {
        return 0.0;
    }
    three_digits(of.iter().filter(|needed| is_so(**needed)).count() as f64 / of.len() as f64)
}

/// The factor of these, if they are enough to say.
fn known(held: &[&Held]) -> Option<f64> {
    let pairs = held.iter().map(|held| held.pair).collect::<BTreeSet<_>>().len();
    let is_enough = held.len() >= FEWEST_NUMBERS && pairs >= FEWEST_PAIRS_OF_SESSIONS;
    if is_enough { twentieth(needs(held.iter())) } else { None }
}

/// The value that a further one would exceed in one case of twenty, rounded up; none where no
/// factor is large enough.
fn twentieth(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (COVERED * (values.len() + 1) as f64).ceil() as usize;
    let factor = (values[rank.min(values.len()) - 1] * 1000.0).ceil() / 1000.0;
    factor.is_finite().then_some(factor)
}

fn three_digits(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The correlation of each round's time with that of the round before it, of every cell that was timed.
fn correlations(record: &Record) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    for (cell, _) in measures(record).into_iter().filter(|(_, own)| own.contains(ELAPSED)) {
        if let Some(values) = record.rounds_of(&Expression::parse(&cell.to_string())?)? {
            all.extend(statistics::correlation_with_the_one_before(&values));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
