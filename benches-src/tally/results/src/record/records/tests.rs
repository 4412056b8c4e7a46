//! Known answers.

mod sums;

use std::path::PathBuf;

use super::*;
use crate::record::made_up::{cell, end, header, raw_run, reported, run};
use crate::record::{Placed, Writer, checksum};

/// Lines with sums that are right, whatever was changed in them.
fn with_sums(text: &str) -> String {
    without_sums(text).lines().map(|line| checksum::with_sum(line) + "\n").collect()
}

/// The same without sums.
fn without_sums(text: &str) -> String {
    let bare = |line: &str| line.split_once(",\"sum\":").map_or(line.to_owned(), |(text, _)| format!("{text}}}"));
    text.lines().map(|line| bare(line) + "\n").collect()
}

/// A record of two cells in which these runs failed; where it was placed.
fn session(folder: &Path, effort: Effort, failed: &[(u32, usize)]) -> Placed {
    let path = folder.join("switch-cost/socket.jsonl");
    let header = Header { effort, ..header(vec![cell("x", "free"), cell("y", "free")]) };
    let mut writer = Writer::create(&path, &header).unwrap();
    let mut record = Record { header, runs: Vec::new(), end: None };
    for (round, index) in [(0, 0), (0, 1), (1, 0), (2, 1), (2, 0)] {
        let mut run = reported(&record.header, round, index, 10.0);
        if failed.contains(&(round, index)) {
            run.observation = None;
            run.failure = Some(Failure { exit: "ended by signal 9".to_owned(), last_lines: Vec::new() });
        }
        writer.run(&run).unwrap();
        record.runs.push(run.into());
    }
    writer.finish(&record, &end()).unwrap()
}

fn written(folder: &Path) -> PathBuf {
    assert_eq!(session(folder, Effort::Quick, &[]), Placed::Kept);
    folder.join("switch-cost/socket.jsonl")
}

#[test]
fn a_record_is_never_replaced_by_one_that_is_worse() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    let good = fs::read_to_string(&path).unwrap();
    let all = [(0, 0), (0, 1), (1, 0), (2, 1), (2, 0)];
    for (failed, why) in [
        (&all[..], "every process of x[hops=500, free] failed"),
        (&[(0, 1), (2, 1)], "every process of y[hops=500, free] failed"),
        (&[(0, 1)], "1 processes failed, and 0"),
    ] {
        let Placed::Aside(aside, reason) = session(folder.path(), Effort::Quick, failed) else { panic!("{why}") };
        assert!(reason.contains(why), "{reason}");
        assert_eq!(fs::read_to_string(&path).unwrap(), good);
        assert_eq!(Record::load(&aside.with_file_name("socket.jsonl")).unwrap().unwrap().failures(), 0);
        assert!(fs::read_to_string(aside).unwrap().contains("ended by signal 9"), "nor is what was measured lost");
    }
    // What was measured with more effort takes the place, and what takes its place again leaves it
    // beside.
    assert_eq!(session(folder.path(), Effort::Full, &[]), Placed::Kept);
    assert_eq!(session(folder.path(), Effort::Quick, &[]), Placed::Kept);
    assert!(fs::read_to_string(path.with_extension("jsonl.session-2")).unwrap().contains("\"full\""));
}

#[test]
fn what_failed_is_counted_with_how() {
    let folder = tempfile::tempdir().unwrap();
    session(folder.path(), Effort::Quick, &[(0, 1), (2, 1)]);
    let record = Record::load(&folder.path().join("switch-cost/socket.jsonl")).unwrap().unwrap();
    let lost = record.lost(&[0, 1]).unwrap();
    assert_eq!(lost.words(), "2 of 5 processes failed: ended by signal 9 (2)");
    assert_eq!((record.lost(&[0]), record.failures(), record.observed()), (None, 2, BTreeSet::from([0])));
}

#[test]
fn a_session_during_which_the_clock_was_put_back_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switch-cost/socket.jsonl");
    let header = header(vec![cell("x", "free")]);
    let mut writer = Writer::create(&path, &header).unwrap();
    let run = reported(&header, 0, 0, 100.0);
    writer.run(&run).unwrap();
    let mut end = end();
    end.after.time = "1970-01-01T00:00:09Z".to_owned();
    let record = Record { header, runs: vec![run.into()], end: None };
    assert_eq!(writer.finish(&record, &end).unwrap(), Placed::Kept);
    assert_eq!(Record::load(&path).unwrap().unwrap().end, Some(end));
}

#[test]
fn a_record_that_contradicts_itself_is_refused_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, line, reason) in [
        ("\"chapter\":\"switch-cost\"", "\"chapter\":\"memory\"", 1, "memory/socket"),
        (
            "\"doubled\":false",
            "\"doubled\":false,\"changed\":{\"host name\":\"arthur\"}",
            7,
            "no setting that can change",
        ),
        ("\"doubled\":false", "\"doubled\":false,\"changed\":{\"CPU quota\":\"\\u001b[2J\"}", 7, "a control character"),
        ("\"experiment\":\"socket\"", "\"experiment\":\"laps\"", 1, "switch-cost/laps"),
        ("2026-11-20T10:00:00Z", "2099-11-20T10:00:00Z", 1, "2099"),
        ("2026-11-20T10:00:00Z", "", 1, "no date"),
        ("2026-11-20T10:05:00Z", "half past ten", 7, "no date"),
        ("\"program\":\"y\"", "\"program\":\"x\"", 1, "twice"),
        ("switch-cost/x", "switch-cost/y", 2, "stands for x[hops=500, free]"),
        ("\"placement\":\"free\",\"samples\"", "\"placement\":\"one-cpu\",\"samples\"", 2, "stands for x"),
        ("\"round\":1", "\"round\":0", 4, "a second run of x"),
        ("\"operations\":[1000", "\"operations\":[0", 2, "without any operation"),
        ("\"elapsed_ns\":[10000", "\"elapsed_ns\":[0", 2, "or time"),
        ("\"elapsed_ns\":[10000", "\"elapsed_ns\":[18446744073709551615", 2, "longer than a day"),
        ("\"voluntary_switches\":[1000", "\"voluntary_switches\":[18446744073709551615", 2, "voluntary_switches"),
        ("\"measures\":{}", "\"measures\":[]", 2, "expected an object"),
        ("\"measures\":{}", "\"measures\":{\"rate_ns\":{\"unit\":\"ns\",\"values\":[-1.0]}}", 2, "below 0"),
        ("\"measures\":{}", "\"measures\":{\"a\":{\"unit\":\"1\",\"values\":[1e300]}}", 2, "the measure a"),
        ("\"measures\":{}", "\"measures\":{\"a\":{\"unit\":\"B\",\"values\":[1.0,2.0]}}", 2, "2 values for 1 counts"),
        (
            "\"measures\":{}",
            "\"measures\":{\"held\":{\"unit\":\"1\",\"values\":[1.0,2.0,3.0]},\
             \"a\":{\"unit\":\"B\",\"values\":[1.0,2.0]}}",
            2,
            "2 values for 3 counts",
        ),
        ("\"measures\":{}", "\"measures\":{\"held\":{\"unit\":\"1\",\"values\":[1.0,1.0]}}", 2, "the same count twice"),
        (
            "\"histograms\":{}",
            "\"histograms\":{\"lap\":{\"unit\":\"ns\",\"buckets\":[[9,1],[8,1]]}}",
            2,
            "follow one another",
        ),
        ("\"headline_half_width\":0.01", "\"headline_half_width\":-1.0", 7, "below 0"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is not in {good}");
        fs::write(&path, with_sums(&bad)).unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        assert!(
            error.contains(&format!("socket.jsonl, line {line}: ")) && error.contains(reason),
            "{from} → {to}: {error}"
        );
    }
    fs::write(&path, &good).unwrap();
    assert!(Record::load(&path).is_ok(), "and nothing else is");
}

#[test]
fn what_is_no_file_or_has_no_end_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket.jsonl");
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(Record::load(&path).unwrap_err().to_string().contains("is no file"));
    assert!(Record::load_header(&path).unwrap_err().to_string().contains("is no file"));
    fs::remove_file(&path).unwrap();
    File::create(&path).unwrap().set_len(validity::MOST_BYTES + 1).unwrap();
    assert!(Record::load(&path).unwrap_err().to_string().contains("64 MiB"));
}

#[test]
fn a_record_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let record = Record::load(&written(folder.path())).unwrap().unwrap();
    assert_eq!(record.runs.len(), 5);
    assert_eq!(record.end, Some(end()));
    assert_eq!(record.header, header(vec![cell("x", "free"), cell("y", "free")]));
    let complete: Vec<u32> = record.complete_rounds().iter().map(|(round, _)| *round).collect();
    assert_eq!(complete, [0, 2], "round 1 lacks a cell");
    assert_eq!(record.next_round(), 3);
    assert_eq!(record.day(), "2026-11-20");
}

#[test]
fn rounds_of_two_starts_of_the_machine_are_no_session() {
    let boot = |own: Option<&str>| State { boot: own.map(str::to_owned), ..end().after };
    let own = Header {
        before: State { boot: Some("one".to_owned()), ..header(Vec::new()).before },
        ..header(vec![cell("x", "free")])
    };
    let mut run = reported(&own, 0, 0, 10.0);
    for (later, is_one) in [(Some("one"), true), (None, true), (Some("two"), false)] {
        run.resumed = Some(boot(later));
        let mut reader = validity::Reader::new(&own, "switch-cost", "socket").unwrap();
        let end = End { after: boot(later), ..end() };
        for result in [reader.run(&run, |_, _| Ok(())), reader.end(&end)] {
            assert_eq!(result.is_ok(), is_one, "{later:?}");
            assert!(is_one || result.unwrap_err().to_string().contains("started anew during the session"));
        }
    }
}

#[test]
fn the_time_of_rounds_is_that_of_complete_ones_and_older_runs_have_none() {
    let timed = |round, cell, took_ms| Run { took_ms, ..run(round, cell, 10.0) };
    let runs = vec![
        timed(0, 0, None),
        timed(0, 1, Some(30)),
        timed(1, 0, Some(500)),
        timed(2, 1, Some(7)),
        timed(2, 0, Some(5)),
    ];
    let record = Record { header: header(vec![cell("x", "free"), cell("y", "free")]), runs, end: None };
    assert_eq!(record.rounds_took(), Duration::from_millis(42), "round 1 lacks a cell");
    let older = serde_json::to_value(Line::Run(Box::new(raw_run(0, 0, 10.0)))).unwrap();
    assert!(older["run"].get("took_ms").is_none(), "what is not known is not written: {older}");
    assert!(matches!(serde_json::from_value(older).unwrap(), Line::Run(read) if read.took_ms.is_none()));
}

#[test]
fn days_and_efforts_of_several_records_are_said_once() {
    let of = |day: &str, effort| {
        let before = State { time: format!("{day}T10:00:00Z"), ..State::default() };
        Header { effort, before, ..header(Vec::new()) }
    };
    let (full, quick) = (of("2026-11-20", Effort::Full), of("2026-11-21", Effort::Quick));
    let one = [quick.clone()];
    assert_eq!((days(&one), efforts(&one)), ("2026-11-21".into(), "quick".into()));
    let several = [full.clone(), quick, full];
    assert_eq!(days(&several), "2026-11-20 to 2026-11-21");
    assert_eq!(efforts(&several), "full (2 experiments) and quick (1 experiment)");
    assert_eq!((days(&[]), efforts(&[])), (String::new(), String::new()));
    assert_eq!(listed(["b", "a", "b"].into_iter()), "a, b");
}

#[test]
fn a_truncated_record_is_an_error_that_names_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 40]).unwrap();
    let error = format!("{:#}", Record::load(&path).unwrap_err());
    assert!(error.contains("socket.jsonl, line 7"), "{error}");
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&path, lines[..6].join("\n") + "\n").unwrap();
    let error = format!("{:#}", Record::load(&path).unwrap_err());
    assert!(error.contains("truncated"), "{error}");
}

#[test]
fn corrupt_and_older_records_are_errors_with_a_cure() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path());
    let text = fs::read_to_string(&path).unwrap();
    for unknown in ["2", "4"] {
        fs::write(&path, with_sums(&text.replacen("\"format\":3", &format!("\"format\":{unknown}"), 1))).unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        assert!(error.contains(&format!("format {unknown}")) && error.contains("measure again"), "{error}");
    }
    fs::write(&path, "nonsense\n").unwrap();
    assert!(format!("{:#}", Record::load(&path).unwrap_err()).contains("line 1"));
    fs::write(&path, "").unwrap();
    assert!(Record::load(&path).unwrap_err().to_string().contains("empty"));
    fs::write(&path, with_sums(&text.replacen("\"cell\":1", "\"cell\":9", 1))).unwrap();
    assert!(format!("{:#}", Record::load(&path).unwrap_err()).contains("header lacks"));
    assert_eq!(Record::load(&folder.path().join("none.jsonl")).unwrap(), None);
}

#[test]
fn only_the_last_line_of_an_unfinished_session_may_be_broken() {
    let folder = tempfile::tempdir().unwrap();
    let partial = Writer::partial(&written(folder.path()));
    let whole = fs::read_to_string(folder.path().join("switch-cost/socket.jsonl")).unwrap();
    let broken = whole.replacen("\"round\":1", "\"round\":?", 1);
    fs::write(&partial, &broken).unwrap();
    let error = format!("{:#}", Record::load_partial(&partial).unwrap_err());
    assert!(error.contains("socket.jsonl.partial, line 4"), "{error}");
}

#[test]
fn a_session_goes_on_after_a_line_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switch-cost/socket.jsonl");
    let header = header(vec![cell("x", "free")]);
    let mut writer = Writer::create(&path, &header).unwrap();
    writer.run(&reported(&header, 0, 0, 10.0)).unwrap();
    drop(writer);
    let partial = Writer::partial(&path);
    let whole = fs::read_to_string(&partial).unwrap();
    for cut_off in [whole.clone() + "{\"run\":{\"round\":1,\"ce", whole.trim_end().to_owned()] {
        fs::write(&partial, cut_off).unwrap();
        let so_far = Record::load_partial(&partial).unwrap().unwrap();
        assert_eq!(so_far.runs.len(), 1);
        let mut writer = Writer::resume(&path, &so_far).unwrap();
        writer.run(&reported(&header, 1, 0, 11.0)).unwrap();
        writer.finish(&so_far, &end()).unwrap();
        let record = Record::load(&path).unwrap().unwrap();
        assert_eq!(record.complete_rounds().len(), 2);
        assert!(fs::read_to_string(&path).unwrap().starts_with(&whole), "what was measured stays as it was");
    }
}
