//! Known answers.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::compute::numbers::Place;
use crate::compute::numbers::in_order;
use crate::compute::unused::unused;
use crate::record::made_up::{cell, end, header, run};

/// Sessions as a machine's folder has them, each of a name of its own.
fn taken(records: Vec<Record>) -> Vec<Taken> {
    let name = |(nth, record): (usize, Record)| Taken { record, session: Some(format!("{nth}")) };
    in_order(records.into_iter().enumerate().map(name).collect())
}

/// A session of so many cells, each of whose levels chance moved by up to this share.
fn session(rng: &mut StdRng, hour: u32, cells: usize, moved_by: f64) -> Record {
    let mut header = header((0..cells).map(|index| cell(&format!("p{index}"), "free")).collect());
    header.before.time = format!("2026-11-{:02}T{:02}:00:00Z", 1 + hour / 24, hour % 24);
    let mut runs = Vec::new();
    for index in 0..cells {
        let level = 1e6 * (1.0 + moved_by * (2.0 * rng.random::<f64>() - 1.0));
        runs.extend((0..6).map(|round| run(round, index, level * (1.0 + 0.001 * rng.random::<f64>()))));
    }
    Record { header, runs, end: Some(end()) }
}

fn times(between: &Between) -> &Factor {
    between.kinds.iter().find(|own| own.kind == Kind::Time).unwrap()
}

#[test]
fn factors_cover_sessions_that_were_not_used_to_derive_them() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut derivation = Derivation::default();
    derivation.add("x", &taken((0..12).map(|hour| session(&mut rng, hour, 20, 0.1)).collect()), &[]).unwrap();
    let known = derivation.end("now".to_owned());
    let times = times(&known);
    assert_eq!((known.sessions, times.pairs_of_sessions, times.pairs), (12, 66, 66 * 20));
    assert!(times.missed > 0.9, "sessions move far more than their rounds: {times:?}");
    let factor = times.factor.unwrap();
    assert!((1.1..1.25).contains(&factor), "{factor}");
    let unused = unused(&derivation, &|_, _| 1e-9).unwrap();
    let tried = unused.iter().find(|own| own.kind == Kind::Time).unwrap();
    assert_eq!((tried.sessions, tried.numbers), (12, 12 * 20));
    assert!(tried.covered > 0.9, "{tried:?}");
    assert_eq!(known.until, "2026-11-01T11:00:00Z");
    assert_eq!((known.within_a_day, known.machines["x"]), (66, 66));
    let mut two_days = Derivation::default();
    two_days.add("x", &taken([0, 24, 49].map(|hour| session(&mut rng, hour, 1, 0.1)).to_vec()), &[]).unwrap();
    assert_eq!(two_days.end(String::new()).within_a_day, 1, "of three pairs");
}

#[test]
fn of_too_few_pairs_it_is_said_that_they_are_too_few() {
    let mut rng = StdRng::seed_from_u64(2);
    for (sessions, cells, enough) in [(1, 40, false), (3, 40, false), (4, 5, false), (4, 40, true)] {
        let mut derivation = Derivation::default();
        derivation
            .add("x", &taken((0..sessions).map(|hour| session(&mut rng, hour, cells, 0.1)).collect()), &[])
            .unwrap();
        let known = derivation.end(String::new());
        let factor = known.kinds.iter().find(|own| own.kind == Kind::Time).and_then(|own| own.factor);
        assert_eq!(factor.is_some(), enough, "{sessions} sessions of {cells} cells");
        assert_eq!(known.factor(Kind::Time, Place::of(&header(Vec::new()))).is_some(), enough);
    }
}

#[test]
fn what_ran_other_listings_or_was_exported_twice_is_no_pair() {
    let mut rng = StdRng::seed_from_u64(3);
    let first = session(&mut rng, 0, 2, 0.1);
    let mut other = session(&mut rng, 1, 2, 0.1);
    other.header.sources.own.insert("a listing".to_owned(), "changed".to_owned());
    let mut derivation = Derivation::default();
    derivation.add("x", &taken(vec![first.clone(), first, other]), &[]).unwrap();
    let known = derivation.end(String::new());
    assert_eq!((known.sessions, times(&known).pairs, times(&known).factor), (2, 0, None));
}

#[test]
fn the_earlier_half_knows_nothing_of_the_later() {
    let mut rng = StdRng::seed_from_u64(4);
    let mut derivation = Derivation::default();
    let moved_by = |hour: u32| if hour < 8 { 0.01 } else { 0.3 };
    derivation
        .add("x", &taken((0..16).map(|hour| session(&mut rng, hour, 40, moved_by(hour))).collect()), &[])
        .unwrap();
    let (all, earlier) = (derivation.end(String::new()), derivation.of_earlier_half());
    assert_eq!(earlier.half, all.half);
    // Of 120 pairs, 60 are of the first eleven sessions and the twelfth with some of them.
    assert_eq!(all.half, "2026-11-01T11:00:00Z");
    let [all, earlier] = [all, earlier].map(|known| times(&known).pairs_of_sessions);
    assert_eq!((all, earlier), (120, 66));
}
