//! Known answers.

use observation::{Histogram, Measure, Window};

use super::*;
use crate::compute::series::{cpu_time, per_operation, quantile};
use crate::record::machine::State;
use crate::record::made_up::{cell, end, header, run};
use crate::record::samples::Columns;
use crate::record::{Effort, Failure, Header};

/// Rounds in which everything drifts upwards, but a stays twice b; c is a's twin and differs from
/// it by one percent.
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
        seen.timed = None;
        seen.unavailable.insert("elapsed".into(), "of <b>limits</b>".to_owned());
        runs.push(unavailable);
    }
    Record { header: header(cells), runs, end: Some(end()) }
}

#[test]
fn that_the_clock_was_set_while_the_session_ran_is_a_doubt() {
    let doubts = |ended: &str, resumed: Option<&str>, took_ms: u64| {
        let mut record = drifting();
        record.runs.iter_mut().for_each(|run| run.took_ms = Some(took_ms));
        record.end.as_mut().unwrap().after.time = ended.to_owned();
        record.runs[9].resumed = resumed.map(|time| State { time: time.to_owned(), ..State::default() });
        record.doubts().concat()
    };
    // It began at ten, and has 32 processes.
    for (ended, resumed, took_ms, how) in [
        ("2026-11-20T10:05:00Z", None, 9_000, None),
        ("2026-11-20T10:05:00Z", None, 9_500, Some("back")),
        ("2026-11-20T09:59:59Z", None, 0, Some("back")),
        ("1970-01-01T00:00:09Z", None, 9_000, Some("back")),
        ("2026-11-21T10:04:00Z", None, 9_000, None),
        ("2099-11-20T10:05:00Z", None, 9_000, Some("forward")),
        ("2026-11-29T10:05:00Z", Some("2026-11-29T10:00:00Z"), 9_000, None),
        ("2026-11-20T10:05:00Z", Some("2026-11-20T10:30:00Z"), 0, Some("back")),
    ] {
        let said = doubts(ended, resumed, took_ms);
        let wanted = how.map(|how| format!("clock was put {how} while the session ran"));
        assert_eq!(said.contains("clock"), wanted.is_some(), "{ended}: {said}");
        assert!(said.contains(&wanted.unwrap_or_default()), "{said}");
    }
}

#[test]
fn that_the_machine_was_set_otherwise_meanwhile_is_a_doubt_that_names_it() {
    let mut record = drifting();
    record.header.machine.known.insert("CPU quota".to_owned(), "2".to_owned());
    let changed = [("CPU quota", "0.5"), ("clock source", "hpet")];
    record.end.as_mut().unwrap().changed = changed.map(|(name, now)| (name.to_owned(), now.to_owned())).into();
    let said = "the machine was set otherwise while the session ran: CPU quota (from 2 to 0.5), clock source (from \
                unknown to hpet)";
    assert_eq!(record.doubts(), [said]);
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
fn a_ratio_of_percentiles_says_no_more_than_each_of_them() {
    let mut record = drifting();
    for run in &mut record.runs {
        // Of the second, a percentile is ten times as long in every second round.
        let ns = if run.cell == 1 && run.round % 2 == 0 { 10_000.0 } else { 1_000.0 };
        let measure = observation::Measure { unit: "ns".to_owned(), values: vec![ns] };
        run.observation.as_mut().unwrap().measures.insert("half_p99_ns".into(), measure);
    }
    assert_eq!(evaluate(&record, "a.half_p99_ns").unwrap().estimate.median, 1000.0);
    let said = evaluate(&record, "b.half_p99_ns").unwrap_err();
    assert_eq!(said.word, TOO_UNCERTAIN);
    for formula in ["b.half_p99_ns / a.half_p99_ns", "a.half_p99_ns - b.half_p99_ns"] {
        assert_eq!(evaluate(&record, formula).unwrap_err(), said, "{formula}");
    }
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
fn the_bias_is_what_an_a_a_pair_differs_by_beyond_chance() {
    let record = drifting();
    // The first arm is always one percent below the second, so that the interval of their ratio is
    // all but a point.
    let pairs = record.pairs("elapsed");
    let bias = beyond_chance(&pairs[0].1);
    assert!(pairs.len() == 1 && (bias - 0.01).abs() < 1e-3, "{pairs:?}");
    let own = |text: &str| evaluate(&record, text).unwrap().bias;
    assert!((own("a") - 2700.0 * bias / 2.0).abs() < 1.0, "one cell carries half of it");
    assert!((own("a / a") - bias).abs() < 1e-3, "a ratio of two carries it all");
    assert_eq!(own("b"), 0.0, "a pair says nothing of another program");
    assert!((own("a / b") - 2.0 * bias / 2.0).abs() < 1e-3);
    assert!((own("a - b") - 2700.0 * bias / 2.0).abs() < 1.0);
    let (low, high) = evaluate(&record, "a / b").unwrap().judged().unwrap();
    assert!(low < 2.0 - 0.009 && high > 2.0 + 0.009);
}

#[test]
fn a_pair_whose_interval_contains_1_shows_no_bias_however_wide_it_is() {
    let mut record = drifting();
    for run in record.runs.iter_mut().filter(|run| run.cell == 2 && run.round % 2 == 0) {
        run.observation.as_mut().unwrap().timed.as_mut().unwrap().ns_per_operation *= 4.0;
    }
    for run in record.runs.iter_mut().filter(|run| run.cell == 2 && run.round % 2 == 1) {
        run.observation.as_mut().unwrap().timed.as_mut().unwrap().ns_per_operation /= 4.0;
    }
    assert_eq!(evaluate(&record, "a").unwrap().bias, 0.0);
}

#[test]
fn without_a_pair_no_bias_is_known_and_none_is_made_up() {
    let mut record = drifting();
    for run in record.runs.iter_mut().filter(|run| run.cell == 2 && run.round > 4) {
        run.observation = None;
    }
    assert_eq!(evaluate(&record, "a / b").unwrap().bias, 0.0, "the pair has too few rounds for an interval");
    record.header.cells[2] = cell("c", "free");
    assert_eq!(evaluate(&record, "a / b").unwrap().bias, 0.0, "nothing was run twice");
}

#[test]
fn two_arms_that_have_none_of_something_do_not_differ() {
    let mut record = drifting();
    for run in &mut record.runs {
        let none = observation::Measure { unit: "1".to_owned(), values: vec![0.0] };
        run.observation.as_mut().unwrap().measures.insert("refused".into(), none);
    }
    assert_eq!(beyond_chance(&record.pairs("refused")[0].1), 0.0);
}

#[test]
fn what_moved_while_it_was_measured_says_so_and_its_paired_ratio_does_not() {
    let mut record = drifting();
    let more: Vec<Run> = record.runs.iter().cloned().map(|run| Run { round: run.round + 8, ..run }).collect();
    record.runs.extend(more);
    for run in record.runs.iter_mut().filter(|run| run.round >= 8) {
        run.observation.iter_mut().flat_map(|seen| &mut seen.timed).for_each(|timed| timed.ns_per_operation *= 3.0);
    }
    let marks = |text: &str| record.marks(&Expression::parse(text).unwrap());
    let moved = marks("a");
    assert_eq!((moved.len(), moved[0].key, moved[0].short.as_str()), (1, "drifts", "rose by 200 % meanwhile"));
    assert!(marks("a / b").is_empty(), "both moved alike");
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
    // On one CPU that is always busy it is the time that passed, however uneven the samples and
    // however coarse their split.
    let window = |elapsed_ns, user_ns: u64| Window {
        operations: 10,
        elapsed_ns,
        counters: [("user_ns".to_owned(), user_ns), ("system_ns".to_owned(), elapsed_ns - user_ns)].into(),
    };
    let samples = vec![window(100, 0), window(110, 110), window(400, 0), window(90, 0), window(300, 140)];
    let seen = Seen { timed: Columns::of(&samples).summary(), ..Seen::default() };
    let [user, system] = ["user_ns", "system_ns"].map(|mode| cpu_time(&seen, mode).unwrap());
    assert_eq!((user, system), (11.0 * 0.25, 11.0 * 0.75));
    assert_eq!(Some(user + system), nanoseconds_per_operation(&seen));
    assert_eq!(cpu_time(&Seen::default(), "user_ns"), None);
}

#[test]
fn an_idle_machines_interrupts_are_not_the_programs() {
    let window = |operations, elapsed_ns, count: u64| Window {
        operations,
        elapsed_ns,
        counters: [("system_idle_entries".to_owned(), count)].into(),
    };
    let seen = Seen {
        timed: Columns::of(&[window(100, 1000, 250)]).summary(),
        idle_window: Some(window(0, 2000, 100).into()),
        ..Seen::default()
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
        seen.measures.insert("clock_cost".into(), named("ns", 20.0));
        if run.cell != 1 {
            seen.measures.insert("calls".into(), named("1", 2.0));
            seen.measures.insert("calls_recvfrom".into(), named("1", 2.0));
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

#[test]
fn what_slowed_the_machine_down_meanwhile_is_a_doubt_and_what_did_before_is_none() {
    let doubts = |before: State, after: State| {
        let mut record = drifting();
        record.header.before = State { time: record.header.before.time.clone(), ..before };
        let end = &mut record.end.as_mut().unwrap().after;
        *end = State { time: end.time.clone(), ..after };
        record.doubts().concat()
    };
    let none = State::default;
    for (before, after, said) in [
        (
            State { heat: Some(3), ..none() },
            State { heat: Some(5), ..none() },
            "slowed down for their heat while the session ran: 2 times",
        ),
        (State { on_battery: Some(true), ..none() }, none(), "ran on its battery"),
        (none(), State { on_battery: Some(true), ..none() }, "ran on its battery"),
        (
            State { swapped_pages: Some(1), ..none() },
            State { swapped_pages: Some(8), ..none() },
            "memory was swapped while the session ran, 7 pages",
        ),
        (
            State { clock_ns: Some(25), ..none() },
            State { clock_ns: Some(1250), ..none() },
            "one reading of the clock takes 1250 ns",
        ),
        (
            State { clock_ns: Some(25), clock_step_ns: Some(4_000_000), ..none() },
            none(),
            "the clock moves in steps of 4000000 ns",
        ),
        (State { clock_ns: Some(25), clock_step_ns: Some(30), ..none() }, none(), ""),
        (State { heat: Some(3), ..none() }, State { heat: Some(3), ..none() }, ""),
        (none(), State { heat: Some(3), swapped_pages: Some(8), ..none() }, ""),
        (State { on_battery: Some(false), clock_ns: Some(25), ..none() }, none(), ""),
        (
            State { swapped_pages: Some(8), ..none() },
            State { swapped_pages: Some(8), clock_ns: Some(25), ..none() },
            "",
        ),
    ] {
        let seen = doubts(before, after);
        assert!(seen.contains(said) && seen.is_empty() == said.is_empty(), "{said:?}: {seen}");
    }
}

#[test]
fn a_clock_that_is_slow_for_the_programs_alone_is_a_doubt_too() {
    let mut record = drifting();
    let mut read = |run: usize, ns: f64| {
        let seen = record.runs[run].observation.as_mut().unwrap();
        seen.measures.insert("clock_cost".into(), Measure { unit: "ns".to_owned(), values: vec![ns] });
        record.doubts().concat()
    };
    let slow = read(0, 1250.0);
    assert!(slow.contains("one reading of the clock takes 1250 ns"), "{slow}");
    assert!([read(1, 24.0), read(2, 25.0)][1].is_empty(), "one process of three was interrupted");
}
