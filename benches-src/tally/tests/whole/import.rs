//! Sessions that were measured elsewhere and come in as bundles: what is taken, what is refused and
//! why, and that one that is refused keeps no other out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{self, Fake, fail, succeed, summed};
use tally::record::compression::pack;

/// A checkout in which one session was measured, and the bundle that was exported of it.
fn elsewhere() -> (Fake, PathBuf) {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    succeed(fake.tally(&["export", "a-machine"]));
    let sessions = fs::read_dir(fake.path("data/machines/a-machine/sessions")).unwrap();
    let mut files = sessions.map(|file| file.unwrap().path());
    let bundle = files.find(|file| file.to_str().unwrap().ends_with(".bundle.zst")).unwrap();
    (fake, bundle)
}

/// A bundle with these records.
fn bundle(fake: &Fake, name: &str, records: &str) -> PathBuf {
    let path = fake.path(name);
    fs::write(&path, pack(summed(records).as_bytes()).unwrap()).unwrap();
    path
}

fn import(home: &Fake, bundles: &[&Path]) -> Command {
    let mut command = home.tally(&["import"]);
    command.args(bundles);
    command
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_session_joins_once_under_the_name_that_its_file_has() {
    let (there, bundle) = elsewhere();
    let home = Fake::new();
    let sent = home.path("that-machine_17.bundle.zst");
    fs::copy(&bundle, &sent).unwrap();
    let output = import(&home, &[&sent]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("1 records are in data/machines/that-machine/sessions/"), "{}", errors(&output));
    assert_eq!(home.unpacked("that-machine"), there.record(), "every sample has come along");
    let shown = home.print(&["value", "slow[free] / fast[free]", "--machine", "that-machine"]);
    assert!(shown.contains("2.00"), "{shown}");
    for _ in 0..2 {
        let output = import(&home, &[&sent]).output().unwrap();
        assert!(output.status.success() && errors(&output).contains("in a session of that-machine already"));
    }
    assert_eq!(home.unpacked("that-machine"), there.record());
    let home = Fake::new();
    let mut named = import(&home, &[&bundle]);
    named.args(["--name", "this-machine"]);
    succeed(named);
    assert_eq!(home.unpacked("this-machine"), there.record());
}

#[test]
fn a_copy_under_another_name_is_no_machine_of_its_own() {
    let (there, one) = elsewhere();
    let home = Fake::new();
    home.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n<!-- cmdrun tally table pair -->\n");
    let sent = ["a-machine", "b-machine"].map(|name| home.path(&format!("{name}.bundle.zst")));
    for sent in &sent {
        fs::copy(&one, sent).unwrap();
    }
    // Packed otherwise, its file is another; its records are the same.
    let repacked = bundle(&home, "c-machine.bundle.zst", &there.record());
    let said = fail(import(&home, &[&sent[0], &sent[1], &repacked]));
    assert!(said.contains("2 of 3 sessions were not imported"), "{said}");
    for name in ["b-machine", "c-machine"] {
        assert!(said.contains(&format!("{name}.bundle.zst: pair, begun at 2")), "{said}");
        assert!(!home.path(&format!("data/machines/{name}")).exists());
    }
    assert!(said.contains("data/machines/a-machine/sessions/") && said.contains("already; remove one of the two"));
    assert!(succeed(home.tally(&["check"])).contains("agree"));
    // Whoever copies the folder is told by check.
    let folders = ["a-machine", "b-machine"].map(|name| home.path(&format!("data/machines/{name}")));
    succeed({
        let mut copy = Command::new("cp");
        copy.arg("-r").args(folders);
        copy
    });
    let said = fail(home.tally(&["check"]));
    let both = ["data/machines/b-machine/sessions/", "stands in data/machines/a-machine/sessions/"];
    assert!(both.iter().all(|path| said.contains(path)), "{said}");
    assert!(said.contains("1 disagreements"), "{said}");
    // And so is who exports again under another name.
    let said = fail(there.tally(&["export", "z-machine"]));
    assert!(said.contains("pair.jsonl: pair, begun at 2") && said.contains("a-machine/sessions/"), "{said}");
}

#[test]
fn a_record_that_stands_twice_in_a_bundle_is_refused_before_anything_is_written_and_by_check() {
    let (there, _) = elsewhere();
    let home = Fake::new();
    let twice = there.record().repeat(2);
    let sent = bundle(&home, "a-machine.bundle.zst", &twice);
    let said = fail(import(&home, &[&sent]));
    assert!(said.contains("a-machine.bundle.zst: pair, begun at 2") && said.contains("stands in it twice"), "{said}");
    assert!(!home.path("data/machines/a-machine").exists());
    home.contribute("a-machine", &there.record());
    let sessions = fs::read_dir(home.path("data/machines/a-machine/sessions")).unwrap();
    fs::copy(&sent, sessions.flatten().next().unwrap().path()).unwrap();
    let said = fail(home.tally(&["check"]));
    assert!(said.contains("bundle.zst: pair, begun at 2") && said.contains("stands in it twice"), "{said}");
}

#[test]
fn one_that_is_refused_keeps_no_other_out() {
    let (there, bundle) = elsewhere();
    let home = Fake::new();
    let (good, bad, none) = (home.path("good.bundle.zst"), home.path("bad.bundle.zst"), home.path("none.bundle.zst"));
    let bytes = fs::read(&bundle).unwrap();
    fs::write(&good, &bytes).unwrap();
    fs::write(&bad, &bytes[..bytes.len() / 2]).unwrap();
    let said = fail(import(&home, &[&bad, &good, &none]));
    assert!(said.contains("2 of 3 sessions were not imported"), "{said}");
    assert!(
        said.contains("bad.bundle.zst: it cannot be unpacked") && said.contains("none.bundle.zst: there is no such"),
        "{said}"
    );
    assert_eq!(home.unpacked("good"), there.record());
    assert!(!home.path("data/machines/bad").exists() && !home.path("data/machines/none").exists());
}

#[test]
fn what_a_stranger_made_is_refused_with_the_reason() {
    let (there, _) = elsewhere();
    let record = there.record();
    let changed = |from: &str, to: &str| {
        assert!(record.contains(from), "{from}");
        record.replacen(from, to, 1)
    };
    // Clocks differ by hours where a time zone was taken for another, and by years where a battery
    // is empty.
    let at = |time: &str| {
        let (head, rest) = record.split_once("\"time\":\"").unwrap();
        format!("{head}\"time\":\"{time}{}", &rest[rest.find('"').unwrap()..])
    };
    let bad: [(&str, String, &str); 14] = [
        ("of a clock that is years behind", at("2000-01-01T00:00:00Z"), "it says that it was measured on 2000"),
        ("of a clock that is years ahead", at("2106-02-07T06:28:15Z"), "it says that it was measured on 2106"),
        ("of an experiment of no plan", changed("\"experiment\":\"pair\"", "\"experiment\":\"gone\""), "gone"),
        (
            "of a path",
            changed("\"experiment\":\"pair\"", "\"experiment\":\"../../pair\""),
            "is no name for an experiment",
        ),
        (
            "of another chapter",
            changed("\"chapter\":\"chapter\"", "\"chapter\":\"other\""),
            "reported, free, stands for ",
        ),
        ("of a test run", changed("\"effort\":\"quick\"", "\"effort\":\"test\""), "test run"),
        (
            "that names a host",
            changed("\"known\":{", "\"known\":{\"host name\":\"arthur-dent\","),
            "more of the machine than the allow-list",
        ),
        ("that names a folder", changed("no steady state", "/home/arthur-dent/x no steady state"), "names a folder"),
        (
            "with more than its format has",
            changed("\"effort\":", "\"note\":\"hello\",\"effort\":"),
            "the format of records does not have",
        ),
        ("that was cut off", record.lines().take(3).map(|line| format!("{line}\n")).collect(), "is truncated"),
        (
            "without a header",
            record.lines().skip(1).map(|line| format!("{line}\n")).collect(),
            "does not begin with a record's header",
        ),
        ("of another format", changed("\"format\":3", "\"format\":4000"), "has format 4000"),
        ("with a round twice", changed("\"round\":1,\"cell\":0", "\"round\":0,\"cell\":0"), "a second run"),
        ("of nothing", String::new(), "does not begin with a record's header"),
    ];
    for (what, records, reason) in bad {
        let home = Fake::new();
        let sent = bundle(&home, "a-machine.bundle.zst", &records);
        let said = fail(import(&home, &[&sent]));
        assert!(said.contains("a-machine.bundle.zst: ") && said.contains(reason), "{what}: {said}");
        assert!(!home.path("data/machines/a-machine").exists(), "{what}: something was written");
    }
}

#[test]
fn files_that_are_no_bundles_are_refused_with_the_reason() {
    let home = Fake::new();
    let path = |name: &str| home.path(name);
    fs::write(path("letter.bundle.zst"), "a letter to somebody").unwrap();
    fs::write(path("bomb.bundle.zst"), pack(&vec![0; 64 << 20]).unwrap().repeat(64)).unwrap();
    fs::File::create(path("long.bundle.zst")).unwrap().set_len(65 << 20).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("zero.bundle.zst")).unwrap();
    fs::create_dir(path("folder.bundle.zst")).unwrap();
    fs::write(path("records.tar"), "").unwrap();
    fs::write(path("Upper.bundle.zst"), "").unwrap();
    fs::write(path("..bundle.zst"), "").unwrap();
    let before = machines(&home);
    for (name, reason) in [
        ("letter.bundle.zst", "it cannot be unpacked"),
        ("bomb.bundle.zst", "unpacks to more than"),
        ("long.bundle.zst", "64 MiB"),
        ("zero.bundle.zst", "it is no file"),
        ("folder.bundle.zst", "it is no file"),
        ("records.tar", "a bundle is called after its machine"),
        ("Upper.bundle.zst", "no name for a machine"),
        ("..bundle.zst", "no name for a machine"),
    ] {
        let said = fail(import(&home, &[&path(name)]));
        assert!(said.contains(name) && said.contains(reason), "{name}: {said}");
    }
    assert_eq!(machines(&home), before, "something was written");
}

fn machines(fake: &Fake) -> usize {
    fs::read_dir(fake.path("data/machines")).map_or(0, Iterator::count)
}

#[test]
fn two_machines_do_not_share_a_name() {
    let (there, bundle_of_one) = elsewhere();
    let home = Fake::new();
    let mut first = import(&home, &[&bundle_of_one]);
    first.args(["--name", "a-machine"]);
    succeed(first);
    let before = home.unpacked("a-machine");
    let of_another =
        there.record().replacen("\"kernel\":\"", "\"kernel\":\"0.", 1).replacen("\"seed\":", "\"seed\":1", 1);
    let sent = bundle(&home, "a-machine.bundle.zst", &of_another);
    let said = fail(import(&home, &[&sent]));
    assert!(said.contains("machine.toml is of another machine") && said.contains("kernel; use another name"), "{said}");
    assert_eq!(home.unpacked("a-machine"), before);
}

#[test]
fn what_is_lacking_stale_or_doubtful_is_named_and_comes_along() {
    let (there, _) = elsewhere();
    let home = Fake::with_plan(&support::plan_with_another("other"));
    home.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another slow step.\n");
    let sent = bundle(&home, "a-machine.bundle.zst", &there.record());
    let output = import(&home, &[&sent]).output().unwrap();
    let said = errors(&output);
    assert!(output.status.success(), "{said}");
    for warning in ["lacks what a full session has: other", "measured by other listings than lie here", "has doubts"] {
        assert!(said.contains(warning), "{warning}: {said}");
    }
    assert_eq!(home.unpacked("a-machine"), there.record());
}

/// What an import says of a machine that describes itself as two others do, which take 2000 ns for
/// a slow step.
fn third_of_three(slow_ns: u64, change: impl Fn(&str) -> String) -> String {
    let (there, bundle_of_one) = elsewhere();
    let home = Fake::new();
    home.compare();
    let mut first = import(&home, &[&bundle_of_one]);
    first.args(["--name", "a-machine"]);
    succeed(first);
    // Of another seed, it is no copy.
    let other = there.record().replacen("\"seed\":", "\"seed\":1", 1);
    succeed(import(&home, &[&bundle(&home, "c-machine.bundle.zst", &other)]));
    there.program("slow", &support::observation("slow", slow_ns));
    succeed(there.measure(&["--again"]));
    let output = import(&home, &[&bundle(&home, "b-machine.bundle.zst", &change(&there.record()))]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    errors(&output)
}

#[test]
fn a_machine_that_is_not_what_it_says_is_named() {
    let unlike = "are those of a-machine, c-machine, and 2 of 3 numbers differ for sure";
    let said = third_of_three(9000, str::to_owned);
    assert!(said.contains(unlike), "{said}");
    assert!(
        said.contains("take a <step> (free): 9.00–9.00×, and all 2 other machines lie between 2.00× and 2.00×"),
        "{said}"
    );
    let said = third_of_three(2000, str::to_owned);
    assert!(!said.contains("are those of") && !said.contains("lie between"), "{said}");
    let said = third_of_three(9000, |record| record.replacen("\"kernel\":\"", "\"kernel\":\"0.", 1));
    assert!(!said.contains("are those of"), "who says that its kernel is another may differ: {said}");
}
