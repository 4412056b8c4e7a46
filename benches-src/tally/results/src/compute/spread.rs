//! How far a quantity of its own moves between sessions of one machine. The procedure:
//!
//! 1. The variance of a quantity is that of its sessions' medians, on the logarithmic scale, about
//!    the mean of those of one machine that ran the same listings, pooled over machines.
//! 2. That of an experiment is the middle one of its quantities, and that of a kind the middle one
//!    of its experiments. Each is shrunk to the one above it, which counts as much as `PRIOR`
//!    sessions beyond the first. The square root of the shrunk variance is the spread.
//! 3. Each session is left out of each quantity in turn, and how many spreads its median lies from
//!    the median of the others is noted; none where it lies within what they came to, or within the
//!    interval over the rounds of one. What nineteen of twenty do not exceed is the reach.
//! 4. A printed interval reaches so many spreads from its number, and nowhere less far than the
//!    interval over rounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::numbers::{Numbers, Row, Session};
use crate::statistics;

/// As many sessions beyond the first as the spread above counts for.
const PRIOR: f64 = 4.0;

/// A quantity has a spread of its own from so many sessions beyond the first on.
const FEWEST_OF_A_QUANTITY: f64 = 2.0;

/// The share of pairs that an interval is to hold for.
const COVERED: f64 = 0.95;

/// How far quantities of one kind move between sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    pub kind: Kind,
    /// That of the kind, as a standard deviation on the logarithmic scale.
    pub spread: f64,
    /// So many spreads a printed interval reaches from its number.
    pub reach: f64,
    /// How many numbers of sessions that says.
    pub numbers: usize,
    /// From how many groups of sessions of the same listings on one machine.
    pub groups: usize,
    /// By experiment.
    #[serde(default)]
    pub experiments: BTreeMap<String, f64>,
    /// By experiment and expression, where a quantity has sessions enough.
    #[serde(default)]
    pub quantities: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Spread {
    /// How far an interval reaches by factors to either side of a number that is the median over so
    /// many sessions: their median is the nearer to the next session's, the more they are.
    pub fn factor(&self, experiment: &str, key: &str, sessions: usize) -> f64 {
        let own = self.quantities.get(experiment).and_then(|all| all.get(key));
        let spread = own.or_else(|| self.experiments.get(experiment)).unwrap_or(&self.spread);
        (self.reach * spread * of_the_next(sessions)).exp()
    }
}

/// The spread of the next session's median about that over so many, in spreads of one.
fn of_the_next(sessions: usize) -> f64 {
    (1.0 + 1.0 / sessions as f64).sqrt()
}

/// What sessions of the same listings on one machine came to, on the logarithmic scale.
struct Group<'a> {
    experiment: &'a str,
    key: &'a str,
    /// The median of each session, and the interval over its rounds.
    sessions: Vec<(f64, (f64, f64))>,
}

/// A sum of squares about means, and so many sessions beyond the first of each.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Squares {
    sum: f64,
    beyond_first: f64,
}

impl Squares {
    fn of(values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self { sum: values.iter().map(|value| (value - mean).powi(2)).sum(), beyond_first: values.len() as f64 - 1.0 }
    }

    fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, beyond_first: self.beyond_first + other.beyond_first }
    }

    fn without(self, other: Self) -> Self {
        Self { sum: (self.sum - other.sum).max(0.0), beyond_first: self.beyond_first - other.beyond_first }
    }

    fn variance(self) -> f64 {
        self.sum / self.beyond_first
    }

    /// The variance, shrunk to one that is known of more.
    fn shrunk(self, to: f64) -> f64 {
        (PRIOR * to + self.sum) / (PRIOR + self.beyond_first)
    }
}

/// The spreads of a kind, from the sessions of which this is so; nothing where there are too few to
/// say.
pub fn spread(kind: Kind, all: &[Numbers], is_used: &dyn Fn(&Numbers, &Session) -> bool) -> Option<Spread> {
    let groups: Vec<Group> = all.iter().flat_map(|numbers| groups(kind, numbers, is_used)).collect();
    let mut quantities: BTreeMap<(&str, &str), Squares> = BTreeMap::new();
    for group in &groups {
        let known = quantities.entry((group.experiment, group.key)).or_default();
        *known = known.and(group.squares());
    }
    let mut within: BTreeMap<&str, Vec<Squares>> = BTreeMap::new();
    for ((experiment, _), squares) in &quantities {
        within.entry(experiment).or_default().push(*squares);
    }
    let each: BTreeMap<&str, Squares> = within.iter().map(|(experiment, all)| (*experiment, of_all(all))).collect();
    let of_kind = middle(each.values().copied())?;
    let experiments: BTreeMap<&str, f64> =
        each.into_iter().map(|(experiment, squares)| (experiment, squares.shrunk(of_kind))).collect();
    let mut distances = Vec::new();
    for group in &groups {
        let known = quantities[&(group.experiment, group.key)];
        distances.extend(group.distances(known, experiments[group.experiment]));
    }
    let numbers = distances.len();
    let reach = twentieth(distances)?;
    let mut own: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for ((experiment, key), squares) in &quantities {
        if squares.beyond_first >= FEWEST_OF_A_QUANTITY {
            let spread = rounded(squares.shrunk(experiments[experiment]));
            own.entry((*experiment).to_owned()).or_default().insert((*key).to_owned(), spread);
        }
    }
    Some(Spread {
        kind,
        spread: rounded(of_kind),
        reach,
        numbers,
        groups: groups.len(),
        experiments: experiments.into_iter().map(|(name, variance)| (name.to_owned(), rounded(variance))).collect(),
        quantities: own,
    })
}

/// The variance of an experiment: the middle one of its quantities. It stands on as many sessions
/// as the quantity that has most, since a session moves all of them together.
fn of_all(quantities: &[Squares]) -> Squares {
    let beyond_first = quantities.iter().map(|own| own.beyond_first).fold(0.0, f64::max);
    Squares { sum: middle(quantities.iter().copied()).unwrap_or(0.0) * beyond_first, beyond_first }
}

/// The middle variance of those that are above nothing.
fn middle(all: impl Iterator<Item = Squares>) -> Option<f64> {
    let variances: Vec<f64> = all.map(Squares::variance).filter(|variance| *variance > 0.0).collect();
    statistics::median(&variances)
}

/// The value that a further one would exceed in one case of twenty, rounded up; none where no
/// factor is large enough.
pub(super) fn twentieth(mut values: Vec<f64>) -> Option<f64> {
    let rank = (COVERED * (values.len() + 1) as f64).ceil() as usize;
    let at = rank.min(values.len()) - 1;
    let (_, value, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    let factor = (*value * 1000.0).ceil() / 1000.0;
    factor.is_finite().then_some(factor)
}

/// A spread from its variance, upwards to a ten-thousandth.
fn rounded(variance: f64) -> f64 {
    (variance.sqrt() * 1e4).ceil() / 1e4
}

impl Group<'_> {
    fn medians(&self, left_out: Option<usize>) -> Vec<f64> {
        let all = self.sessions.iter().enumerate();
        all.filter(|(at, _)| Some(*at) != left_out).map(|(_, (median, _))| *median).collect()
    }

    fn squares(&self) -> Squares {
        Squares::of(&self.medians(None))
    }

    /// How many spreads each session's median lies from that of the others, by the spread without
    /// it. `known` is of the quantity in all groups, `above` the variance of its experiment.
    fn distances(&self, known: Squares, above: f64) -> Vec<f64> {
        let elsewhere = known.without(self.squares());
        let distance = |(at, (median, _)): (usize, &(f64, _))| {
            let others = self.medians(Some(at));
            let center = statistics::median(&others).unwrap_or(*median);
            let spread = elsewhere.and(Squares::of(&others)).shrunk(above).sqrt();
            let (low, high) = others.iter().fold((center, center), |(low, high), one| (low.min(*one), high.max(*one)));
            let of_rounds = self.sessions.iter().enumerate().find(|(other, _)| *other != at);
            let (below, beyond) = of_rounds.map_or((0.0, 0.0), |(_, (own, ends))| (own - ends.0, ends.1 - own));
            let is_within = low.min(center - below) <= *median && *median <= high.max(center + beyond);
            if is_within { 0.0 } else { (median - center).abs() / spread / of_the_next(others.len()) }
        };
        self.sessions.iter().enumerate().map(distance).collect()
    }
}

/// The groups of a machine's experiment, of each quantity of a kind that is above nothing.
fn groups<'a>(kind: Kind, numbers: &'a Numbers, is_used: &dyn Fn(&Numbers, &Session) -> bool) -> Vec<Group<'a>> {
    let experiment = numbers.place().experiment;
    let used = |session: &usize| is_used(numbers, &numbers.sessions[*session]);
    let mut first: Vec<usize> = (0..numbers.sessions.len()).collect();
    for pair in numbers.pairs.iter().filter(|pair| pair.of.iter().all(used)) {
        let [earlier, later] = pair.of;
        first[later] = first[later].min(first[earlier]);
    }
    let mut alike: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for session in (0..first.len()).filter(used) {
        alike.entry(first[session]).or_default().push(session);
    }
    let rows = numbers.rows.iter().filter(|row| row.kind == kind && !row.is_term);
    let groups = rows.flat_map(|row| alike.values().map(move |sessions| (row, above_nothing(row, sessions))));
    let groups = groups.filter(|(_, sessions)| sessions.len() > 1);
    groups.map(|(row, sessions)| Group { experiment, key: &row.key, sessions }).collect()
}

/// What these sessions came to, as logarithms; nothing where any of it is not above nothing, or all
/// of it is one exact number. Numbers that are exact in each session and differ between them do
/// move.
fn above_nothing(row: &Row, sessions: &[usize]) -> Vec<(f64, (f64, f64))> {
    let known = sessions.iter().filter_map(|session| row.values[*session]);
    let known: Vec<(f64, (f64, f64))> =
        known.filter_map(|own| Some((own.estimate.median, own.estimate.interval?))).collect();
    let Some((first, _)) = known.first().copied() else { return Vec::new() };
    let is_one_number = known.iter().all(|own| *own == (first, (first, first)));
    if is_one_number || known.iter().any(|(_, (low, _))| *low <= 0.0) {
        return Vec::new();
    }
    known.into_iter().map(|(median, (low, high))| (median.ln(), (low.ln(), high.ln()))).collect()
}

#[cfg(test)]
mod tests;
