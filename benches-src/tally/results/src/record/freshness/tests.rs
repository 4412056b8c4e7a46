//! Known answers.

use super::*;
use crate::record::known::{Equivalence, OlderRecord, OlderRecords};
use crate::record::made_up::{cell, header};
use crate::record::programs::{Compiled, Programs};
use crate::record::sources::PLAN;

const FILE: &str = "c/src/bin/a.rs";

fn one(name: &str, value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), value.to_owned())])
}

/// A record of a program with this listing, this machine code and this lock file.
fn measured(file: &str, code: Option<&str>, lock: &str) -> Header {
    let mut header = header(vec![cell("a", "free")]);
    header.sources =
        Sources { own: one(FILE, file), beneath: one("lock", lock), code: code.map(|code| one("a", code)) };
    header
}

/// What lies here: the same of today.
fn current(file: &str, code: &str, lock: &str, equivalences: Vec<Equivalence>, older_records: OlderRecords) -> Current {
    let files = one(FILE, file);
    let keys = BTreeSet::from([code.to_owned(), source(&files)]);
    let (files, keys) = (BTreeMap::from([("a".to_owned(), files)]), BTreeMap::from([("a".to_owned(), keys)]));
    let known = Known { today: Programs { files, keys }, older_records, equivalences, ..Known::default() };
    Current {
        sources: Sources { own: one(FILE, file), beneath: one("lock", lock), code: None },
        programs: BTreeMap::from([("a".to_owned(), BTreeSet::from(["a".to_owned()]))]),
        renamed: Vec::new(),
        chapter: "c".to_owned(),
        known: Arc::new(known),
    }
}

fn plain(file: &str, code: &str, lock: &str) -> Current {
    current(file, code, lock, Vec::new(), OlderRecords::default())
}

fn stale(what: &str) -> Option<String> {
    Some(format!("measured before these changed: {what}"))
}

#[test]
fn the_same_sources_or_the_same_machine_code_are_fresh() {
    let record = measured("1", Some("m"), "1");
    assert_eq!(plain("1", "m", "1").freshness(&record), Freshness::Fresh);
    assert_eq!(plain("2", "m", "1").freshness(&record), Freshness::Fresh, "a comment, a name, another file");
    assert_eq!(plain("1", "m", "1").other_text(&record), BTreeSet::new());
    assert_eq!(plain("2", "m", "1").other_text(&record), BTreeSet::from([FILE.to_owned()]));
    assert_eq!(plain("1", "n", "1").freshness(&record), Freshness::Fresh, "by another compiler, which is beneath");
    assert_eq!(plain("2", "n", "1").freshness(&record).complaint(), stale(FILE));
    let unknown = measured("1", None, "1");
    let freshness = plain("1", "m", "1").freshness(&unknown);
    assert_eq!(freshness.complaint(), stale(FILE), "it says nothing of what ran");
    assert_eq!(freshness.of(["a"]), freshness);
}

#[test]
fn what_stands_beneath_makes_older_and_a_plan_decides_nothing() {
    let mut record = measured("1", Some("m"), "1");
    assert_eq!(plain("1", "m", "2").freshness(&record), Freshness::Older(vec!["lock changed".to_owned()]));
    record.sources.own.insert(PLAN.to_owned(), "of an earlier plan".to_owned());
    assert_eq!(plain("1", "m", "1").freshness(&record), Freshness::Fresh);
}

#[test]
fn a_build_that_does_the_same_work_is_older_over_any_number_of_steps() {
    let step = |before: &str, after: &str, because: &str| Equivalence {
        program: "a".to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
        because: because.to_owned(),
        cells: Vec::new(),
    };
    let steps = vec![step("m", "n", "counted"), step("n", "m", "back"), step("n", "o", "timed")];
    let now = |code: &str| current("2", code, "1", steps.clone(), OlderRecords::default());
    let record = measured("1", Some("m"), "1");
    assert_eq!(now("o").freshness(&record), Freshness::Older(vec!["counted".to_owned(), "timed".to_owned()]));
    assert_eq!(now("n").freshness(&record), Freshness::Older(vec!["counted".to_owned()]));
    assert_eq!(now("x").freshness(&record).complaint(), stale(FILE), "nobody compared that");
    // Where no machine code can be read, sources stand for it.
    let step = vec![step(&source(&one(FILE, "1")), &source(&one(FILE, "2")), "counted")];
    let now = current("2", "m", "1", step, OlderRecords::default());
    assert_eq!(now.freshness(&measured("1", Some("x"), "1")), Freshness::Older(vec!["counted".to_owned()]));
}

#[test]
fn an_older_record_is_what_its_revision_was_and_never_fresh_without_being_known() {
    let mut record = measured("bytes", None, "old lock");
    let mut known = OlderRecords::default();
    known.base.program =
        BTreeMap::from([("a".to_owned(), Compiled { source: source(&one(FILE, "1")), code: "m".to_owned() })]);
    known.base.beneath = BTreeMap::from([("c".to_owned(), one("lock", "1"))]);
    known.base.alike = "it took as long".to_owned();
    let key = format!("{}-{}", record.experiment, record.seed);
    let with = |same: &str, alike: &str, older: &str| {
        let set = |word: &str| BTreeSet::from([word.to_owned()]).into_iter().filter(|word| !word.is_empty()).collect();
        let entry = OlderRecord { same: set(same), alike: set(alike), older: set(older) };
        let base = toml::from_str(&toml::to_string(&known).unwrap()).unwrap();
        let known = OlderRecords { record: BTreeMap::from([(key.clone(), entry)]), ..base };
        current("2", "m", "1", Vec::new(), known)
    };
    assert_eq!(with("a", "", "").freshness(&record), Freshness::Fresh);
    assert_eq!(with("a", "", "").other_text(&record), BTreeSet::from([FILE.to_owned()]), "of that revision");
    assert_eq!(with("all", "", "").freshness(&record), Freshness::Fresh);
    assert_eq!(with("a", "", "harness").freshness(&record), Freshness::Older(vec!["harness changed".to_owned()]));
    assert_eq!(with("", "a", "").freshness(&record), Freshness::Older(vec!["it took as long".to_owned()]));
    assert_eq!(with("b", "", "").freshness(&record).complaint(), stale(FILE), "that is of another program");
    record.seed += 1;
    assert_eq!(with("a", "", "").freshness(&record).complaint(), stale(FILE), "that is another record");
}

#[test]
fn a_program_that_is_gone_is_stale_and_its_rival_is_not() {
    let mut now = plain("1", "m", "1");
    now.programs.insert("b".to_owned(), BTreeSet::from(["b".to_owned()]));
    let freshness = now.freshness(&measured("1", Some("m"), "1"));
    assert_eq!(freshness.complaint(), stale("c/src/bin/b.rs"));
    assert_eq!(freshness.of(["a"]), Freshness::Fresh);
    for programs in [&["b"][..], &["a", "b"], &["unknown"]] {
        assert_eq!(freshness.of(programs.iter().copied()), freshness);
    }
}

#[test]
fn a_program_that_another_starts_decides_too() {
    let mut now = plain("1", "m", "1");
    now.programs = BTreeMap::from([("a".to_owned(), ["a", "b"].map(str::to_owned).into())]);
    assert_eq!(now.freshness(&measured("1", Some("m"), "1")).complaint(), stale("c/src/bin/b.rs"));
}
