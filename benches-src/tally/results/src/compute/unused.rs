//! Whether printed intervals hold for sessions that they do not know: each session of a machine is
//! left out in turn, spreads are derived and intervals made without it, and its medians are looked
//! for in them, rounded as both are printed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::between::{Between, Unused};
use super::derive::{Derivation, three_digits};
use super::kind::Kind;
use super::numbers::{Numbers, Pair};
use crate::book::unit::Unit;
use crate::statistics;

/// A number of a session that was left out.
struct Tried {
    kind: Kind,
    session: usize,
    is_covered: bool,
    half_width: Option<f64>,
}

/// To what a number of a unit, and its interval with it, are rounded when they are printed.
pub type PrintedPlace = dyn Fn(Unit, f64) -> f64;

/// Leaves out each session that a machine's folder has, in turn.
pub fn unused(derivation: &Derivation, place: &PrintedPlace) -> Result<Vec<Unused>> {
    let name = |numbers: &Numbers| {
        let names = numbers.sessions.iter().filter_map(|session| session.name.clone());
        names.map(|name| (numbers.machine.clone(), name)).collect::<Vec<_>>()
    };
    let all: BTreeSet<(String, String)> = derivation.all.iter().flat_map(name).collect();
    let mut tried = Vec::new();
    for (at, (machine, session)) in all.iter().enumerate() {
        let is_left_out = |numbers: &Numbers, name: &Option<String>| {
            numbers.machine == *machine && name.as_deref() == Some(session.as_str())
        };
        let between = derivation.known(&|numbers, own| !is_left_out(numbers, &own.name));
        for numbers in &derivation.all {
            let left_out = |index: &usize| is_left_out(numbers, &numbers.sessions[*index].name);
            for index in (0..numbers.sessions.len()).filter(left_out) {
                tried.extend(tried_on(numbers, index, at, &between, place)?);
            }
        }
    }
    Ok(Kind::ALL.into_iter().filter_map(|kind| of_kind(kind, &tried)).collect())
}

/// Every number of a session, held against what is printed without it.
fn tried_on(
    numbers: &Numbers,
    left_out: usize,
    session: usize,
    between: &Between,
    place: &PrintedPlace,
) -> Result<Vec<Tried>> {
    let mut others: BTreeMap<usize, &Pair> = BTreeMap::new();
    for pair in &numbers.pairs {
        let [a, b] = pair.of;
        let other = if a == left_out { b } else { a };
        let is_another = numbers.sessions[other].name != numbers.sessions[left_out].name;
        if pair.of.contains(&left_out) && is_another && numbers.sessions[other].name.is_some() {
            others.insert(other, pair);
        }
    }
    let rank = |other: &&usize| (numbers.sessions[**other].effort, &numbers.sessions[**other].began);
    let Some(shown) = others.keys().max_by_key(rank).copied() else { return Ok(Vec::new()) };
    let order: Vec<usize> = [shown].into_iter().chain(others.keys().copied().filter(|other| *other != shown)).collect();
    let mut tried = Vec::new();
    for row in &numbers.rows {
        if row.of_pair(others[&shown]).is_none() {
            continue;
        }
        let printed =
            between.printed(&row.expression, numbers.place(), &|asked| Ok(numbers.in_sessions(asked, &order)))?;
        let (Ok(printed), Some(own)) = (printed, row.values[left_out]) else { continue };
        let Some((low, high)) = printed.estimate.interval else { continue };
        let place = place(printed.unit, printed.estimate.median);
        let [low, median, high] = [low, own.estimate.median, high].map(|number| (number / place).round());
        tried.push(Tried {
            kind: Kind::of_number(&row.expression, &printed.session),
            session,
            is_covered: low <= median && median <= high,
            half_width: printed.estimate.relative_half_width(),
        });
    }
    Ok(tried)
}

fn of_kind(kind: Kind, tried: &[Tried]) -> Option<Unused> {
    let own: Vec<&Tried> = tried.iter().filter(|one| one.kind == kind).collect();
    let widths: Vec<f64> = own.iter().filter_map(|one| one.half_width).filter(|width| width.is_finite()).collect();
    let covered = own.iter().filter(|one| one.is_covered).count() as f64 / own.len() as f64;
    Some(Unused {
        kind,
        sessions: own.iter().map(|one| one.session).collect::<BTreeSet<_>>().len(),
        numbers: own.len(),
        covered: three_digits(covered),
        half_width: three_digits(statistics::median(&widths)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::numbers::Taken;
    use crate::record::Record;
    use crate::record::made_up::{cell, end, header, run};

    /// A session of this name, in which the time lies around a level.
    fn session(hour: usize, level: f64) -> Taken {
        let mut header = header(vec![cell("a", "free")]);
        header.before.time = format!("2026-11-20T{hour:02}:00:00Z");
        let runs = (0..6).map(|round| run(round, 0, level * (1.0 + 0.001 * f64::from(round)))).collect();
        Taken { record: Record { header, runs, end: Some(end()) }, session: Some(hour.to_string()) }
    }

    fn of(sessions: &[Taken], place: f64) -> Vec<Unused> {
        let mut derivation = Derivation::default();
        derivation.add("x", sessions, &[]).unwrap();
        unused(&derivation, &move |_, _| place).unwrap()
    }

    #[test]
    fn a_session_that_is_unlike_all_others_is_missed_and_no_other() {
        let alike: Vec<Taken> = (0..8).map(|hour| session(hour, 1e6)).collect();
        let [times] = &of(&alike, 1e-9)[..] else { panic!("one kind") };
        assert_eq!((times.kind, times.sessions, times.numbers, times.covered), (Kind::Time, 8, 8, 1.0));
        let mut one_other = alike;
        one_other.push(session(9, 3e6));
        let [times] = &of(&one_other, 1e-9)[..] else { panic!("one kind") };
        assert_eq!((times.sessions, times.covered), (9, 0.889));
        let [printed] = &of(&one_other, 1e9)[..] else { panic!("one kind") };
        assert_eq!(printed.covered, 1.0, "all are printed alike");
    }

    #[test]
    fn one_session_alone_says_nothing() {
        assert!(of(&[session(1, 1e6)], 1e-9).is_empty());
    }
}
