//! Known answers.

use super::*;
use std::collections::BTreeMap;

use crate::record::Record;
use crate::record::made_up::{cell, end, header, run};

/// A session whose rounds of `a` lie around a level, some hours after the others.
fn session(level: f64, rounds: u32, hour: u32) -> Record {
    let mut header = header(vec![cell("a", "free")]);
    header.before.time = format!("2026-11-20T{hour:02}:00:00Z");
    let spread = [1.0, 0.99, 1.01, 0.98, 1.02, 1.0];
    let runs = (0..rounds).map(|round| run(round, 0, level * spread[round as usize % spread.len()])).collect();
    Record { header, runs, end: Some(end()) }
}

fn between(factor: Option<f64>) -> Between {
    let kind = Factor { kind: Kind::Time, within: None, pairs: 1, pairs_of_sessions: 1, missed: 0.4, factor };
    Between { kinds: vec![kind], ..Between::default() }
}

fn printed(sessions: &[Record], factor: Option<f64>) -> Quantity {
    of(&between(factor), sessions, "a")
}

/// What is printed of these sessions, of which the first is shown.
fn of(between: &Between, sessions: &[Record], text: &str) -> Quantity {
    let in_each = |expression: &Expression| sessions.iter().map(|record| record.evaluate(expression)).collect();
    let (expression, place) = (Expression::parse(text).unwrap(), Place::of(&sessions[0].header));
    between.printed(&expression, place, &in_each).unwrap().unwrap()
}

fn close(a: (f64, f64), b: (f64, f64)) -> bool {
    (a.0 / b.0 - 1.0).abs() < 1e-6 && (a.1 / b.1 - 1.0).abs() < 1e-6
}

#[test]
fn one_session_is_widened_by_what_is_known_of_its_kind() {
    let one = [session(1e6, 6, 0)];
    let seen = printed(&one, Some(1.1));
    assert!(close(seen.session.interval.unwrap(), (0.98e6, 1.02e6)), "{seen:?}");
    assert!(close(seen.estimate.interval.unwrap(), (0.98e6 / 1.1, 1.02e6 * 1.1)), "{seen:?}");
    assert_eq!(seen.sessions, 1);
    // From too few pairs nothing was derived, and nothing is made up.
    assert_eq!(printed(&one, None).estimate.interval, seen.session.interval);
}

#[test]
fn the_number_is_the_median_over_sessions_and_the_interval_has_each_of_them() {
    for rounds in [6, 40] {
        let sessions = [session(1e6, rounds, 0), session(1.5e6, 6, 1), session(1.1e6, 6, 2)];
        let seen = printed(&sessions, Some(1.1));
        let (low, high) = seen.session.interval.unwrap();
        assert!(close((seen.session.median, seen.estimate.median), (1e6, 1.1e6)), "{seen:?}");
        // The interval of the one that is shown, about the median of all.
        let (own_low, own_high) = (low * 1.1 / 1.1, high * 1.1 * 1.1);
        assert!(close(seen.estimate.interval.unwrap(), (own_low, own_high.max(1.5e6))), "{rounds}: {seen:?}");
        assert_eq!((seen.sessions, seen.estimate.rounds), (3, rounds as usize), "rounds are not pooled");
    }
    let two = printed(&[session(1e6, 6, 0), session(1.5e6, 6, 1)], Some(1.1));
    assert!(close((two.estimate.median, 1.0), (1.25e6, 1.0)), "between two, it is the middle");
    assert_eq!(two.estimate.interval.unwrap().1, 1.5e6, "{two:?}");
    // One of fewer than six rounds is known by its median, which lies within and moves no number.
    let short = printed(&[session(1e6, 6, 0), session(1.5e6, 3, 1)], Some(1.1));
    assert!(short.estimate.interval.unwrap().1 >= 1.48e6);
    assert!(close((short.estimate.median, short.sessions as f64), (1e6, 1.0)), "{short:?}");
    let one = printed(&[session(1e6, 6, 0)], Some(1.1));
    let with_a_short_one = printed(&[session(1e6, 6, 0), session(1e6, 3, 1)], Some(1.1));
    assert_eq!(with_a_short_one.estimate.interval, one.estimate.interval);
}

#[test]
fn an_interval_moves_with_its_number() {
    assert!(close(moved((8.0, 12.0), 10.0, 5.0), (4.0, 6.0)));
    assert!(close(moved((-2.0, 12.0), 10.0, 5.0), (-7.0, 7.0)));
}

#[test]
fn forty_sessions_speak_for_themselves() {
    let sessions: Vec<Record> = (0..40).map(|index| session(1e6 * (1.0 + 0.01 * f64::from(index)), 6, index)).collect();
    let seen = printed(&sessions, Some(3.0));
    assert!(close(seen.estimate.interval.unwrap(), (0.98e6, 1.39e6)), "their range and the session's own: {seen:?}");
    let most: Vec<Record> = sessions.into_iter().take(ENOUGH_SESSIONS - 1).collect();
    assert!(printed(&most[..20], Some(3.0)).estimate.interval.unwrap().1 > 2.9e6, "twenty do not");
    assert!(printed(&most, Some(3.0)).estimate.interval.unwrap().1 > 2.9e6, "nor do fewer");
}

#[test]
fn what_is_exact_stays_exact_and_differences_move_by_shares_of_themselves() {
    assert_eq!(widened(Kind::Count, 2.0, (2.0, 2.0), 1.5), (2.0, 2.0));
    assert_eq!(widened(Kind::Count, 2.0, (1.0, 3.0), 1.5), (1.0 / 1.5, 4.5));
    assert_eq!(widened(Kind::Difference, 10.0, (-1.0, 12.0), 1.5), (-6.0, 17.0));
    assert_eq!(widened(Kind::Count, 0.0, (0.0, 1.0), 1.5), (-0.5, 1.5));
}

#[test]
fn the_factor_that_is_needed_is_the_one_that_suffices() {
    for (kind, interval, other) in [
        (Kind::Time, (9.0, 11.0), 15.0),
        (Kind::Time, (9.0, 11.0), 4.0),
        (Kind::Difference, (-1.0, 1.0), 3.0),
        (Kind::Memory, (9.0, 11.0), 10.0),
        (Kind::Count, (0.0, 1.0), 2.0),
    ] {
        let estimate =
            Estimate { median: f64::midpoint(interval.0, interval.1).max(0.5), interval: Some(interval), rounds: 6 };
        let factor = factor_needed(kind, &estimate, interval, other);
        let (low, high) = widened(kind, estimate.median, interval, factor * (1.0 + 1e-12));
        assert!(low <= other && other <= high, "{kind:?} {interval:?} {other}: {factor}");
        assert!(
            factor == 1.0 || {
                let (low, high) = widened(kind, estimate.median, interval, 1.0 + (factor - 1.0) * 0.99);
                !(low <= other && other <= high)
            }
        );
    }
}

#[test]
fn a_difference_is_no_wider_than_its_terms_allow() {
    let mut record = session(1e6, 6, 0);
    record.header.cells.push(cell("b", "free"));
    record.runs.extend((0..6).map(|round| run(round, 1, 2e5 * [1.0, 1.01, 0.99, 1.02, 0.98, 1.0][round as usize])));
    let mut between = between(Some(1.1));
    between.kinds.push(Factor { kind: Kind::Difference, factor: Some(3.0), ..between.kinds[0].clone() });
    let of = |text: &str| of(&between, std::slice::from_ref(&record), text).estimate.interval.unwrap();
    let ((low, high), (a, b)) = (of("a - b"), (of("a"), of("b")));
    assert!((a.0 - b.1..=a.1 - b.0).contains(&low) && (a.0 - b.1..=a.1 - b.0).contains(&high), "{low} {high}");
    assert!(high - low > 0.9 * ((a.1 - b.0) - (a.0 - b.1)), "it is cut and not replaced");
}

#[test]
fn a_ratio_reaches_as_far_as_its_own_spread_says_and_encloses_each_session() {
    let mut record = session(1e6, 6, 0);
    record.header.cells.push(cell("b", "free"));
    record.runs.extend((0..6).map(|round| run(round, 1, 5e5)));
    let key = in_full(&Expression::parse("a / b").unwrap(), &record.header.cells);
    let spread = |spread: f64| Spread {
        kind: Kind::Ratio,
        spread,
        reach: 2.0,
        numbers: 100,
        groups: 10,
        experiments: BTreeMap::new(),
        quantities: BTreeMap::from([("socket".to_owned(), BTreeMap::from([(key.clone(), 2.0 * spread)]))]),
    };
    let of = |known: Spread, text: &str| {
        let between = Between { spreads: vec![known], ..between(Some(9.0)) };
        of(&between, std::slice::from_ref(&record), text).estimate.interval.unwrap()
    };
    let factor = |spread: f64| (2.0 * spread * 2f64.sqrt()).exp();
    let expected = |factor: f64| (2.0 / factor, 2.0 * factor);
    assert!(close(of(spread(0.1), "a / b"), expected(factor(0.2))), "its own");
    assert!(close(of(spread(0.1), "b / a"), (0.5 / factor(0.1), 0.5 * factor(0.1))), "that of its kind");
    let (low, high) = of(spread(0.0), "a / b");
    assert!(close((low, high), (1.96, 2.04)), "never nearer than the interval over rounds: {low} {high}");
}
