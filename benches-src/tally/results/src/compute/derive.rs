//! What sessions of one machine differ by, derived from pairs of them: the factor by which an
//! interval of one has to be widened so that it contains the other's median in 95 of 100 cases.
//! Nothing is assumed of how they differ.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::between::{Between, Factor, factor_needed};
use super::kind::Kind;
use super::numbers::{Numbers, Pair, Place, Session, Taken, measures};
use super::quantity::Quantity;
use super::spread::{spread, twentieth};
use crate::book::expression::Expression;
use crate::book::measure::ELAPSED;
use crate::record::Record;
use crate::statistics;

/// So many numbers, two of each pair, from so many pairs of sessions are the fewest that say where
/// the last twentieth begins.
const FEWEST_NUMBERS: usize = 78;
const FEWEST_PAIRS_OF_SESSIONS: usize = 6;

/// The interval of one session, held against the median of another.
struct Held {
    kind: Kind,
    /// Which pair of sessions, by its place among those of its numbers.
    pair: usize,
    /// The factor that is needed.
    needs: f64,
}

/// What was held of one kind, everywhere or in one place.
#[derive(Default)]
struct Group {
    needs: Vec<f64>,
    pairs_of_sessions: usize,
}

/// What is found while sessions are read.
#[derive(Default)]
pub struct Derivation {
    pub all: Vec<Numbers>,
    /// Of each of these: every pair's intervals, held against each other's medians.
    held: Vec<Vec<Held>>,
    sessions: usize,
    machines: BTreeMap<String, usize>,
    within_a_day: usize,
    until: String,
    correlations: Vec<f64>,
}

impl Derivation {
    /// Takes in the sessions of one machine's experiment, in their order. `named` are the further
    /// quantities that its record is asked for.
    pub fn add(&mut self, machine: &str, sessions: &[Taken], named: &[Expression]) -> Result<()> {
        let numbers = Numbers::of(machine, sessions, named)?;
        if !numbers.pairs.is_empty() {
            *self.machines.entry(machine.to_owned()).or_default() += numbers.pairs.len();
            self.within_a_day += numbers.pairs.iter().filter(|pair| numbers.is_within_a_day(pair)).count();
        }
        for Taken { record, .. } in sessions {
            self.correlations.extend(correlations(record)?);
            self.until = self.until.clone().max(record.header.before.time.clone());
        }
        self.sessions += sessions.len();
        self.held.push(held(&numbers));
        self.all.push(numbers);
        Ok(())
    }

    /// What it comes to, but for how sessions come out that are left out.
    pub fn end(&self, derived: String) -> Between {
        let all = &self.correlations;
        let correlation = if all.is_empty() { 0.0 } else { three_digits(all.iter().sum::<f64>() / all.len() as f64) };
        Between {
            derived,
            until: self.until.clone(),
            sessions: self.sessions,
            machines: self.machines.clone(),
            within_a_day: self.within_a_day,
            correlation,
            half: self.half(),
            too_narrow: three_digits(((1.0 + correlation) / (1.0 - correlation)).sqrt()),
            ..self.known(&|_, _| true)
        }
    }

    /// What decides about intervals, from the sessions of which this is so.
    pub fn known(&self, is_used: &dyn Fn(&Numbers, &Session) -> bool) -> Between {
        let with_spreads = Kind::ALL.into_iter().filter(|kind| kind.has_spreads());
        Between {
            kinds: Kind::ALL.into_iter().flat_map(|kind| self.factors(kind, is_used)).collect(),
            spreads: with_spreads.filter_map(|kind| spread(kind, &self.all, is_used)).collect(),
            ..Between::default()
        }
    }

    /// When the earlier half of the pairs was complete.
    fn half(&self) -> String {
        let began = |numbers: &Numbers| {
            let later = numbers.pairs.iter().map(|pair| numbers.sessions[pair.of[1]].began.clone());
            later.collect::<Vec<_>>()
        };
        let mut all: Vec<String> = self.all.iter().flat_map(began).collect();
        all.sort();
        all.get((all.len() / 2).saturating_sub(1)).cloned().unwrap_or_default()
    }

    /// What the sessions come to that began until the earlier half of the pairs was complete.
    pub fn of_earlier_half(&self) -> Between {
        let half = self.half();
        Between { half: half.clone(), ..self.known(&|_, session| session.began <= half) }
    }

    /// The factor of a kind in all chapters, and in each chapter and experiment of which there are
    /// enough pairs.
    fn factors(&self, kind: Kind, is_used: &dyn Fn(&Numbers, &Session) -> bool) -> Vec<Factor> {
        let mut groups = BTreeMap::from([(None, Group::default())]);
        for (numbers, held) in self.all.iter().zip(&self.held) {
            let are_used = |pair: &Pair| pair.of.iter().all(|session| is_used(numbers, &numbers.sessions[*session]));
            let used: Vec<bool> = numbers.pairs.iter().map(are_used).collect();
            let own: Vec<&Held> = held.iter().filter(|held| held.kind == kind && used[held.pair]).collect();
            let Place { chapter, experiment, .. } = numbers.place();
            for place in BTreeSet::from([None, Some(chapter), Some(experiment)]) {
                groups.entry(place).or_default().add(&own);
            }
        }
        let factors = groups.into_iter().map(|(within, group)| group.factor(kind, within));
        factors.filter(|own| own.within.is_none() || own.factor.is_some()).collect()
    }
}

/// Either session's intervals of each pair against the other's medians, of all that both can be
/// asked for.
fn held(numbers: &Numbers) -> Vec<Held> {
    let mut held = Vec::new();
    for (at, pair) in numbers.pairs.iter().enumerate() {
        for row in &numbers.rows {
            let Some([a, b]) = row.of_pair(pair) else { continue };
            let needs = |own: &Quantity, other: &Quantity| {
                let kind = Kind::of_number(&row.expression, &own.estimate);
                Some((kind, factor_needed(kind, &own.estimate, own.estimate.interval?, other.estimate.median)))
            };
            let Some((first, second)) = needs(&a, &b).zip(needs(&b, &a)) else { continue };
            held.extend([first, second].map(|(kind, needs)| Held { kind, pair: at, needs }));
        }
    }
    held
}

impl Group {
    /// Takes in what was held of the sessions of one machine's experiment, pair by pair.
    fn add(&mut self, held: &[&Held]) {
        self.needs.extend(held.iter().map(|held| held.needs));
        self.pairs_of_sessions += held.chunk_by(|one, next| one.pair == next.pair).count();
    }

    fn factor(self, kind: Kind, within: Option<&str>) -> Factor {
        Factor {
            kind,
            within: within.map(str::to_owned),
            pairs: self.needs.len() / 2,
            pairs_of_sessions: self.pairs_of_sessions,
            missed: self.missed(),
            factor: self.known(),
        }
    }

    /// The share of those that need to be widened.
    fn missed(&self) -> f64 {
        if self.needs.is_empty() {
            return 0.0;
        }
        let missed = self.needs.iter().filter(|needed| **needed > 1.0).count();
        three_digits(missed as f64 / self.needs.len() as f64)
    }

    /// The factor of these, if they are enough to say.
    fn known(self) -> Option<f64> {
        let is_enough = self.needs.len() >= FEWEST_NUMBERS && self.pairs_of_sessions >= FEWEST_PAIRS_OF_SESSIONS;
        if is_enough { twentieth(self.needs) } else { None }
    }
}

pub(super) fn three_digits(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The correlation of each round's time with that of the round before it, of every cell that was
/// timed.
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
