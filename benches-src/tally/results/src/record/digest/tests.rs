//! What comes back of a session, and what does not.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use observation::{Histogram, Measure, Window};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::record::machine::State;
use crate::record::made_up::{cell, end, header, reported};
use crate::record::names::named;
use crate::record::samples::Columns;
use crate::record::{Failure, Raw, RawRun};

/// A record of several rounds in which everything is there that a record can have.
pub fn record(experiment: &str) -> RawRecord {
    let mut header = header(vec![cell("a", "free"), cell("b", "one-cpu"), cell("c", "free")]);
    header.experiment = experiment.to_owned();
    header.built = Some([("a".to_owned(), "00".to_owned())].into());
    let runs = (0..4).flat_map(|round| [1, 0, 2].map(|cell| one(&header, round, cell))).collect();
    RawRecord { header, runs, end: Some(end()) }
}

fn one(header: &Header, round: u32, cell: usize) -> RawRun {
    let mut run = reported(header, round, cell, 100.0 / f64::from(round + 3));
    run.took_ms = Some(u64::from(round) * 7);
    run.link_order = (round > 0).then_some(round);
    run.core_to_core_ns = (cell == 1).then_some(45);
    run.resumed =
        (round == 2 && cell == 1).then(|| State { time: "2026-11-20T10:03:00Z".to_owned(), ..State::default() });
    let Some(seen) = &mut run.observation else { unreachable!("it was reported") };
    change(seen, round);
    if round == 1 && cell == 2 {
        run.observation = None;
        run.failure =
            Some(Failure { exit: "ended by signal 9".to_owned(), last_lines: vec!["no more <b>room</b>".to_owned()] });
    }
    run
}

fn change(seen: &mut Raw, round: u32) {
    let window = |elapsed_ns| Window { operations: 3, elapsed_ns, counters: [("migrations".to_owned(), 1)].into() };
    seen.parameters.insert("drawn".into(), json!(round));
    seen.idle_window = (round != 3).then(|| window(1_000));
    seen.whole_run = Some(window(2_000 + u64::from(round)));
    let values = vec![0.1 + 0.2, f64::from(round) / 3.0];
    seen.measures.insert("held".into(), Measure { unit: "1".to_owned(), values: vec![1.0, 2.0] });
    seen.measures.insert("heap_bytes".into(), Measure { unit: "B".to_owned(), values });
    let buckets = (0..round).map(|bound| (u64::from(10 + 7 * bound), 2)).collect();
    seen.histograms.insert("lap".into(), Histogram { unit: "ns".to_owned(), buckets });
    if round == 3 {
        seen.samples = Columns::default();
        seen.unavailable.insert("elapsed".into(), "it needs \"wings\" \u{1f980}".to_owned());
        seen.doubts.push("no steady state: 1 against 2".to_owned());
    }
}

/// A session: its bundle, and what that comes to.
pub struct Session {
    pub records: Vec<RawRecord>,
    pub bundle: Vec<u8>,
    pub digest: Vec<u8>,
}

pub fn session() -> &'static Session {
    static SESSION: LazyLock<Session> = LazyLock::new(|| {
        let records = vec![record("laps"), record("socket")];
        let bundle = bundle(&records).unwrap();
        let digest = packed(&bundle, RawRecord::of_bundle).unwrap();
        Session { records, bundle, digest }
    });
    &SESSION
}

/// A digest of frames that were changed before they were packed.
pub fn changed(change: impl Fn(usize, String) -> String) -> Vec<u8> {
    let frames = frames(&session().digest).unwrap().into_iter().enumerate();
    let changed = frames.map(|(nth, frame)| {
        let text = unpack(frame, MOST_FRAME_BYTES).unwrap();
        let lines = change(nth, text);
        let bare = |line: &str| line.split_once(",\"sum\":").map_or(line.to_owned(), |(text, _)| format!("{text}}}"));
        let summed: String = lines.lines().map(|line| with_sum(&bare(line)) + "\n").collect();
        pack(summed.as_bytes()).unwrap()
    });
    changed.collect::<Vec<_>>().concat()
}

/// What is wrong with a digest, wherever that is found.
fn wrong_with(digest: &[u8], what: &str) -> String {
    let read = || -> Result<()> {
        let digest = Digest::read(digest)?;
        (0..digest.records.len()).try_for_each(|index| digest.record(index).map(drop))
    };
    format!("{:#}", read().expect_err(what))
}

#[test]
fn a_digest_has_what_a_record_comes_to_and_a_bundle_the_record() {
    let Session { records, bundle, digest: packed } = session();
    let digest = Digest::read(packed).unwrap();
    assert_eq!(
        digest.head.records.iter().map(Entry::name).collect::<Vec<_>>(),
        ["switch-cost/laps", "switch-cost/socket"]
    );
    for (index, record) in records.iter().enumerate() {
        assert_eq!(digest.record(index).unwrap(), record.clone().seen());
        assert_eq!(*digest.records[index].0, record.header);
    }
    assert_eq!(records_of_bundle(bundle).unwrap(), *records);
    assert_eq!(digest.unpacked(bundle).unwrap().concat(), unpack(bundle, MOST_BUNDLE_BYTES).unwrap());
    digest.check_against(&Digest::anew(bundle).unwrap()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn numbers_come_back_to_the_last_digit(
        ns in 1.0..1e12_f64,
        values in prop::collection::vec(-1e14..1e14_f64, 1..4),
    ) {
        let mut own = record("socket");
        for run in &mut own.runs {
            let round = run.round;
            let Some(seen) = &mut run.observation else { continue };
            let elapsed_ns = ns as u64 + u64::from(round);
            let sample =
                |operations| Window { operations, elapsed_ns, ..Window::default() };
            seen.samples = Columns::of(&[sample(1000), sample(1000), sample(999)]);
            // What may be below 0 is what one reading had beyond another.
            let each = values.iter().map(|value| value / f64::from(round + 1)).collect();
            seen.measures = named([("calls_each".to_owned(), Measure { unit: "1".to_owned(), values: each })].into());
            if values.len() > 1 {
                let counts = (1..=values.len()).map(|count| count as f64).collect();
                seen.measures.insert("held".into(), Measure { unit: "1".to_owned(), values: counts });
            }
        }
        let bundle = bundle(&[own.clone()]).unwrap();
        prop_assert_eq!(Digest::anew(&bundle).unwrap().record(0).unwrap(), own.seen());
    }

    #[test]
    fn a_byte_that_is_another_and_what_was_cut_off_are_found(at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let Session { records, bundle, digest: packed } = session();
        let digest = Digest::read(packed).unwrap();
        for (file, is_digest) in [(packed, true), (bundle, false)] {
            let at = at.index(file.len());
            let mut flipped = file.clone();
            flipped[at] = to;
            for bad in [flipped, file[..at].to_vec()] {
                if bad == *file {
                    continue;
                }
                if is_digest {
                    let read = Digest::read(&bad).and_then(|own| Ok([own.record(0)?, own.record(1)?]));
                    // A byte that zstd has no use for may be another; nothing else is.
                    let whole: Vec<_> = records.iter().map(|own| own.clone().seen()).collect();
                    prop_assert!(read.is_err() || read.unwrap().to_vec() == whole);
                } else {
                    let error = format!("{:#}", digest.unpacked(&bad).unwrap_err());
                    prop_assert!(error.contains("it is another file than a moment ago"), "{}", error);
                }
            }
        }
    }
}

#[test]
fn what_contradicts_itself_is_refused_with_a_reason() {
    for (frame, from, to, reason) in [
        (0, "{\"digest\":", "{\"diary\":", "unknown variant `diary`"),
        (0, "\"bundle\":", "\"diary\":1,\"bundle\":", "unknown field `diary`"),
        (
            0,
            "\"experiment\":\"laps\",\"bytes\"",
            "\"experiment\":\"../laps\",\"bytes\"",
            "lies where switch-cost/../laps belongs",
        ),
        (0, "\"seed\":", "\"diary\":\"dear\",\"seed\":", "the format of digests does not have"),
        (0, "\"time\":\"2026", "\"time\":\"2099", "2099"),
        (1, "\"observation\":{", "\"observation\":{\"diary\":1,", "unknown field `diary`"),
        (1, "{\"runs\":", "{\"laps\":", "unknown variant `laps`"),
        (1, "\"round\":0,", "\"round\":1000,", "round 1000"),
        (1, "\"round\":1,\"cell\":1", "\"round\":0,\"cell\":1", "a second run of"),
        (1, "\"round\":0,", "", "missing field `round`"),
        (1, "\"cell\":1,", "\"cell\":7,", "a cell that the header lacks"),
        (1, "\"samples\":3", "\"samples\":0", "0 samples"),
        (1, "\"operations\":3000", "\"operations\":0", "samples without operations"),
        (1, "\"ns_per_operation\":33.333", "\"ns_per_operation\":-33.333", "ns for an operation"),
        (1, "\"ns_per_operation\":33.333", "\"ns_per_operation\":1e300", "ns for an operation"),
        (1, "[[10,2],[17,2]]", "[[10,2],[10,2]]", "do not follow one another"),
        (1, "[[10,2],[17,2]]", "[[10,2],[17]]", "invalid length 1"),
        (
            1,
            "\"whole_run\":{\"operations\":3,\"elapsed_ns\":2000,",
            "\"whole_run\":{\"operations\":3,",
            "missing field `elapsed_ns`",
        ),
        (1, "\"hops\":500", "\"hops\":501", "other parameters than those of"),
        (1, "\"heap_bytes\":{\"unit\":\"B\",", "\"heap_bytes\":{", "missing field `unit`"),
    ] {
        let bad = changed(|nth, text| {
            let changed = text.replacen(from, to, 1);
            assert!(nth != frame || changed != text, "{from} is not in {text}");
            if nth == frame { changed } else { text }
        });
        let error = wrong_with(&bad, from);
        assert!(error.contains(reason), "{from} → {to}: {error}");
    }
    assert!(Digest::read(&changed(|_, text| text)).is_ok(), "and nothing else is");
}

#[test]
fn frames_that_are_missing_or_too_many_are_refused() {
    let frames = frames(&session().digest).unwrap();
    for (own, reason) in [
        (frames[..2].concat(), "2 records, and 1 have processes"),
        (frames[..1].concat(), "2 records, and 0 have processes"),
        ([&frames[..], &frames[2..]].concat().concat(), "2 records, and 3 have processes"),
        ([frames[1], frames[0], frames[2]].concat(), "does not begin with the head"),
        ([frames[0], frames[0], frames[2]].concat(), ""),
        (Vec::new(), "it is empty"),
        (b"no zstd at all".to_vec(), "never packed by zstd"),
    ] {
        let error = wrong_with(&own, reason);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_digest_of_another_bundle_is_found() {
    let Session { records, bundle: own, .. } = session();
    let mut other = records.clone();
    other[1].runs[0].took_ms = Some(8);
    let others = bundle(&other).unwrap();
    let digest = Digest::anew(own).unwrap();
    assert!(format!("{:#}", digest.unpacked(&others).unwrap_err()).contains("another file than a moment ago"));
    // One that names the right bundle, and says something else of it.
    let forged =
        changed(|nth, text| if nth == 2 { text.replacen("\"took_ms\":0,", "\"took_ms\":1,", 1) } else { text });
    let error = format!("{:#}", Digest::read(&forged).unwrap().check_against(&digest).unwrap_err());
    assert_eq!(error, "switch-cost/socket: other numbers");
    // And one that names other lines.
    let forged = changed(|nth, text| if nth == 0 { text.replacen("\"sha256\":\"", "\"sha256\":\"0", 1) } else { text });
    let read = Digest::read(&forged).unwrap();
    assert_eq!(format!("{:#}", read.check_against(&digest).unwrap_err()), "other headers");
    let error = format!("{:#}", read.unpacked(own).unwrap_err());
    assert!(error.contains("switch-cost/laps: other lines than those"), "{error}");
}

#[test]
fn a_bundle_that_unpacks_to_gigabytes_is_refused_at_a_bound() {
    let bomb = pack(&vec![0; 64 << 20]).unwrap().repeat(64);
    let error = format!("{:#}", Digest::anew(&bomb).unwrap_err());
    assert!(error.contains("unpacks to more than"), "{error}");
    let sum = Digest::read(&session().digest).unwrap().head.bundle;
    let of_bomb = changed(|_, text| text.replacen(&sum, &sha256(&bomb), 1));
    let error = format!("{:#}", Digest::read(&of_bomb).unwrap().unpacked(&bomb).unwrap_err());
    assert!(error.contains("unpacks to more than"), "{error}");
}

#[test]
fn a_few_bytes_do_not_become_gigabytes_of_records() {
    let mut own = record("socket");
    own.header.cells.truncate(1);
    own.runs = (0..40).map(|round| one(&own.header, round, 0)).collect();
    for run in &mut own.runs {
        let Some(seen) = &mut run.observation else { continue };
        *seen = Raw {
            program: seen.program.clone(),
            placement: seen.placement.clone(),
            parameters: seen.parameters.clone(),
            ..Raw::default()
        };
        seen.parameters.remove("drawn");
        seen.doubts = vec!["x".repeat(1_900); 300];
    }
    let runs = serde_json::to_string(&Own::Runs(own.clone().seen().runs)).unwrap();
    let many = pack((with_sum(&runs) + "\n").as_bytes()).unwrap();
    own.runs.clear();
    let mut digest = Digest::anew(&bundle(&[own]).unwrap()).unwrap();
    assert!(many.len() < 10_000, "{} bytes", many.len());
    digest.packed = vec![many];
    let error = format!("{:#}", digest.record(0).unwrap_err());
    assert!(error.contains("unpacks to more than"), "{error}");
}

#[test]
fn the_processes_of_a_record_stay_an_object_that_jq_reads() {
    let text = unpack(frames(&session().digest).unwrap()[1], MOST_FRAME_BYTES).unwrap();
    let members: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(members.keys().collect::<Vec<_>>(), ["runs", "sum"]);
}
