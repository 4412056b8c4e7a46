//! Machines that came with the checkout, as whoever exports, checks, prints and unpacks them sees
//! them.

use std::fs;

use crate::support::{self, Fake, fail, succeed, summed};
use serde_json::Value;
use tally::record::checksum::sha256;
use tally::record::compression::{pack, unpack};

/// What is done to a machine's folder.
type Damage = fn(&Fake);

const MACHINE: &str = "data/machines/a-machine";

fn measured() -> Fake {
    let fake = Fake::new();
    succeed(fake.measure(&[]));
    fake
}

/// The same record as if it had been measured at this hour.
fn at_hour(record: &str, hour: u32) -> String {
    let lines = record.lines().map(|line| {
        let minute = if line.starts_with("{\"end\"") { 30 } else { 0 };
        match line.split_once("\"time\":\"") {
            Some((start, rest)) => {
                let (_, rest) = rest.split_once('"').unwrap();
                format!("{start}\"time\":\"2026-11-20T{hour:02}:{minute:02}:00Z\"{rest}\n")
            }
            None => line.to_owned() + "\n",
        }
    });
    summed(&lines.collect::<String>())
}

/// A value on the machine, as scripts read it.
fn value(fake: &Fake) -> Value {
    let printed = fake.print(&["value", "slow[free]", "--machine", "a-machine", "--json"]);
    serde_json::from_str(&printed).unwrap()
}

fn said(fake: &Fake, arguments: &[&str]) -> String {
    let output = fake.tally(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

fn sessions(fake: &Fake) -> Vec<String> {
    let files = fs::read_dir(fake.path(&format!("{MACHINE}/sessions"))).unwrap().flatten();
    let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_export_adds_a_session_and_never_the_same_twice() {
    let fake = measured();
    let first = at_hour(&fake.record(), 10);
    fake.write("data/local/chapter/pair.jsonl", &first);
    assert!(said(&fake, &["export", "a-machine"]).contains("sessions/2026-11-20.bundle.zst"));
    let again = said(&fake, &["export", "a-machine"]);
    assert!(again.contains("every local record is in a session of a-machine already; nothing was exported"), "{again}");
    // Two more, of which one lies beside the other.
    fake.write("data/local/chapter/pair.jsonl", &at_hour(&first, 14));
    fake.write("data/local/chapter/pair.jsonl.session", &first);
    fake.write("data/local/chapter/pair.jsonl.session-2", &at_hour(&first, 12));
    said(&fake, &["export", "a-machine"]);
    let mut names = ["", "-2", "-3"].map(|number| format!("2026-11-20{number}.bundle.zst"));
    names.sort();
    assert_eq!(sessions(&fake), names);
    assert_eq!(value(&fake)["sessions"], 3);
    let list = fake.print(&["list", "--machine", "a-machine"]);
    assert!(list.contains("2026-11-20"), "{list}");
    assert!(fake.print(&["value", "slow[free]", "--machine", "a-machine"]).contains("2.00 µs"));
}

#[test]
fn the_record_is_one_of_the_listings_that_are_shown_then_of_most_effort_then_the_latest() {
    let fake = measured();
    let record = fake.record();
    let with = |hour, from: &str, to: &str| summed(&at_hour(&record, hour).replacen(from, to, 1));
    let shown = || {
        value(&fake)["id"]
            .as_str()
            .map(|_| fake.print(&["table", "pair", "--machine", "a-machine", "--form", "page"]))
            .unwrap()
    };
    let revision = |own: &str| format!("\"revision\":\"{own}\"");
    fake.contribute("a-machine", &with(10, "\"revision\":null", &revision("first")));
    assert!(shown().contains("revision first"));
    fake.add_session("a-machine", &with(11, "\"revision\":null", &revision("later")));
    assert!(shown().contains("revision later"));
    let full =
        with(9, "\"revision\":null", &revision("fuller")).replacen("\"effort\":\"quick\"", "\"effort\":\"full\"", 1);
    fake.add_session("a-machine", &full);
    assert!(shown().contains("revision fuller") && value(&fake)["sessions"] == 3);
    // Stale ones are the last to be shown, and no sessions of the same.
    let header: Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    let hash = header.pointer("/header/sources/own/chapter~1src~1bin~1slow.rs").unwrap().as_str().unwrap();
    let stale = with(15, "\"revision\":null", &revision("stale")).replace(hash, "0000000000000000").replacen(
        "\"slow\":\"",
        "\"slow\":\"0",
        1,
    );
    fake.add_session("a-machine", &stale.replacen("\"effort\":\"quick\"", "\"effort\":\"full\"", 1));
    assert!(shown().contains("revision fuller") && value(&fake)["sessions"] == 3);
    fake.contribute("a-machine", &stale);
    assert!(shown().contains("revision stale") && shown().contains("<strong>stale</strong>"));
}

#[test]
fn a_session_of_the_very_same_files_is_another_of_the_same_though_a_comment_changed() {
    let fake = measured();
    let record = fake.record();
    let header: Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    let built = header.pointer("/header/built").unwrap().as_object().unwrap();
    assert_eq!(built.keys().collect::<Vec<_>>(), ["fast", "slow"], "{built:?}");
    fake.contribute("a-machine", &at_hour(&record, 10));
    let hash = header.pointer("/header/sources/own/chapter~1src~1bin~1slow.rs").unwrap().as_str().unwrap();
    fake.add_session("a-machine", &at_hour(&record, 9).replace(hash, "0000000000000000"));
    assert_eq!(value(&fake)["sessions"], 2);
    let slow = built["slow"].as_str().unwrap();
    fake.add_session(
        "a-machine",
        &at_hour(&record, 8).replace(hash, "0000000000000000").replace(slow, "1111111111111111"),
    );
    assert_eq!(value(&fake)["sessions"], 2);
}

#[test]
fn what_cannot_be_read_is_a_box_on_pages_and_named_by_check() {
    let fake = measured();
    let damages: [(&str, Damage); 4] = [
        ("2026-11-20.bundle.zst", |fake| fake.write(&format!("{MACHINE}/sessions/2026-11-20.bundle.zst"), "a letter")),
        ("2026-11-20.bundle.zst", |fake| cut(fake, "2026-11-20.bundle.zst")),
        ("machine.toml", |fake| fs::remove_file(fake.path(&format!("{MACHINE}/machine.toml"))).unwrap()),
        ("2026-11-20.bundle.zst", |fake| {
            let machine = format!("{MACHINE}/machine.toml");
            fake.write(&machine, &fake.read(&machine).replacen("kernel = \"", "kernel = \"0.", 1));
        }),
    ];
    for (named, damage) in damages {
        fake.contribute("a-machine", &at_hour(&fake.record(), 10));
        damage(&fake);
        let ask = |command: &[&str]| fake.print(&[command, &["--machine", "a-machine"]].concat());
        let page = ask(&["table", "pair", "--form", "page"]);
        assert!(
            page.contains("<strong>unreadable</strong>") && page.contains(named) && !page.contains("2.00"),
            "{page}"
        );
        assert!(page.contains("git checkout &#45;&#45; data/machines/a-machine/"), "{page}");
        assert!(!page.contains(&fake.root().display().to_string()), "{page}");
        for command in [
            &["value", "slow[free]"][..],
            &["claim", "T1"],
            &["list"],
            &["list", "--machines"],
            &["claim", "--machines"],
            &["different"],
        ] {
            ask(command);
        }
        let checked = fail(fake.tally(&["check"]));
        assert!(
            checked.contains(&format!("{named}: ")) && checked.contains("git checkout -- data/machines/a-machine/"),
            "{checked}"
        );
        for verb in [&["export", "a-machine"][..], &["unpack", "a-machine"]] {
            let refused = fail(fake.tally(verb));
            assert!(refused.contains(named) || refused.contains("of another machine"), "{refused}");
        }
    }
}

fn cut(fake: &Fake, file: &str) {
    let path = fake.path(&format!("{MACHINE}/sessions/{file}"));
    let bytes = fs::read(&path).unwrap();
    fs::write(path, &bytes[..bytes.len() - 20]).unwrap();
}

#[test]
fn a_damaged_bundle_costs_the_numbers_of_its_machine() {
    let fake = measured();
    fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n<!-- cmdrun tally table pair -->\n");
    fake.contribute("a-machine", &at_hour(&fake.record(), 10));
    assert!(succeed(fake.tally(&["check", "--bundles"])).contains("agree"));
    let page = || fake.print(&["table", "pair", "--machine", "a-machine", "--form", "page"]);
    assert!(page().contains("generated/a-machine/chapter/pair.jsonl"));
    let raw = fake.read("book/src/generated/a-machine/chapter/pair.jsonl");
    assert!(raw == fake.unpacked("a-machine"), "the raw record of a page is not the record's lines");
    fs::remove_dir_all(fake.path("book/src/generated")).unwrap();
    cut(&fake, "2026-11-20.bundle.zst");
    let damaged = page();
    assert!(!damaged.contains("2.00") && damaged.contains("unreadable"), "{damaged}");
    for checked in [fail(fake.tally(&["check"])), fail(fake.tally(&["check", "--bundles"]))] {
        assert!(
            checked.contains("sessions/2026-11-20.bundle.zst: it cannot be unpacked")
                && checked.contains("git checkout -- data/"),
            "{checked}"
        );
    }
    assert!(fail(fake.tally(&["unpack", "a-machine"])).contains("2026-11-20.bundle.zst"));
}

#[test]
fn nothing_is_believed_that_lies_beside_a_bundle_and_what_is_kept_of_it_is_found_wrong() {
    let fake = measured();
    fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n<!-- cmdrun tally table pair -->\n");
    let record = at_hour(&fake.record(), 10);
    fake.contribute("b-machine", &at_hour(&record, 11).replace("\"elapsed_ns\":[2", "\"elapsed_ns\":[7"));
    fake.contribute("a-machine", &record);
    let kept = || fs::read_dir(fake.path("target/digests")).unwrap().map(|file| file.unwrap().path());
    let of = |machine: &str| {
        let bundle = fs::read(fake.path(&format!("data/machines/{machine}/sessions/2026-11-20.bundle.zst"))).unwrap();
        kept().find(|path| path.ends_with(sha256(&bundle))).unwrap()
    };
    assert_eq!(kept().count(), 2);
    // A digest as older tallies put it there: of other numbers, and it names this bundle.
    let sum = of("a-machine").file_name().unwrap().to_string_lossy().into_owned();
    let lie = fs::read(of("b-machine")).unwrap();
    fs::write(fake.path(&format!("{MACHINE}/sessions/2026-11-20.digest.zst")), &lie[65..]).unwrap();
    let shown = || fake.print(&["value", "slow[free]", "--machine", "a-machine"]);
    assert!(shown().contains("2.00 µs"), "{}", shown());
    let checked = fail(fake.tally(&["check"]));
    assert!(checked.contains("2026-11-20.digest.zst: its name is no session's"), "{checked}");
    fs::remove_file(fake.path(&format!("{MACHINE}/sessions/2026-11-20.digest.zst"))).unwrap();
    assert!(succeed(fake.tally(&["check"])).contains("agree"));
    // What is kept below target is what it names, made by this tally; who forges even that is found
    // with --bundles.
    let frames = tally::record::compression::frames(&lie[65..]).unwrap();
    let text = unpack(frames[0], 1 << 24).unwrap();
    let renamed = text.replace(of("b-machine").file_name().unwrap().to_str().unwrap(), &sum);
    let forged = [pack(summed(&renamed).as_bytes()).unwrap(), frames[1..].concat()].concat();
    fs::write(of("a-machine"), [format!("{}\n", sha256(&forged)).into_bytes(), forged].concat()).unwrap();
    assert!(shown().contains("4.50 µs"), "{}", shown());
    let checked = fail(fake.tally(&["check", "--bundles"]));
    assert!(checked.contains("2026-11-20.bundle.zst: remove target/digests, which says otherwise"), "{checked}");
    fs::remove_dir_all(fake.path("target/digests")).unwrap();
    assert!(shown().contains("2.00 µs"));
    assert!(succeed(fake.tally(&["check", "--bundles"])).contains("agree"));
    let named = format!("{MACHINE}/sessions/2026-11-20.bundle.zst");
    assert!(succeed(fake.tally(&["check", "--bundles", &named])).contains("agree"));
    assert!(fail(fake.tally(&["check", "--bundles", "another"])).contains("another is no session's bundle"));
}

#[test]
fn sessions_that_were_replaced_count_for_how_far_sessions_differ() {
    let fake = measured();
    let record = fake.record();
    fake.contribute("a-machine", &at_hour(&record, 10));
    fs::create_dir(fake.path("data/history")).unwrap();
    let frozen = fake.path("data/history/a-machine.digest.zst");
    // What is kept of a bundle, without the sum before it.
    let kept = fs::read_dir(fake.path("target/digests")).unwrap().next().unwrap().unwrap().path();
    fs::write(&frozen, &fs::read(kept).unwrap()[65..]).unwrap();
    fake.contribute("a-machine", &at_hour(&record, 12));
    let derived = || said(&fake, &["between", "--derive"]) + &fake.read("data/between-sessions.toml");
    assert!(derived().contains("\nsessions = 2\n"), "{}", derived());
    assert!(said(&fake, &["between", "--check"]).contains("is what 2 sessions come to"));
    // One that lies in both counts once.
    fake.add_session("a-machine", &at_hour(&record, 10));
    assert!(derived().contains("\nsessions = 2\n"), "{}", derived());
    fs::write(&frozen, "damaged").unwrap();
    let refused = fail(fake.tally(&["between", "--check"]));
    assert!(refused.contains("data/history/a-machine.digest.zst"), "{refused}");
    fs::remove_file(&frozen).unwrap();
    fake.contribute("a-machine", &at_hour(&record, 12));
    assert!(fail(fake.tally(&["between", "--check"])).contains("is not what its sessions come to"));
}

#[test]
fn unpacking_writes_over_nothing_and_names_the_sessions_that_there_are() {
    let fake = measured();
    let record = at_hour(&fake.record(), 10);
    fake.contribute("a-machine", &record);
    fake.add_session("a-machine", &at_hour(&record, 12));
    let told = said(&fake, &["unpack", "a-machine/2026-11-20-2"]);
    assert!(told.contains("wrote 1 records to") && told.contains("target/unpacked/a-machine/2026-11-20-2"), "{told}");
    let unpacked = fake.read("target/unpacked/a-machine/2026-11-20-2/chapter/pair.jsonl");
    assert!(unpacked == at_hour(&record, 12), "it is not as it was");
    let refused = fail(fake.tally(&["unpack", "a-machine"]));
    assert!(refused.contains("pair.jsonl; remove it, or name another folder with --to"), "{refused}");
    let unknown = fail(fake.tally(&["unpack", "a-machine/2026-11-21"]));
    assert!(unknown.contains("no session \"2026-11-21\"; it has: 2026-11-20, 2026-11-20-2"), "{unknown}");
    assert!(fail(fake.tally(&["unpack", "local"])).contains("files of lines already"));
    assert!(fail(fake.tally(&["unpack", "moon"])).contains("unknown machine"));
}

#[test]
fn a_session_counts_whose_programs_do_the_same_work_and_no_other() {
    let fake = measured();
    let record = at_hour(&fake.record(), 10);
    fake.contribute("a-machine", &record);
    let value = || {
        let printed = fake.print(&["value", "slow[free]", "--machine", "a-machine", "--json"]);
        serde_json::from_str::<serde_json::Value>(&printed).unwrap()
    };
    let before = value();
    // Slower, at this hour, and with another hash of what has this name.
    let other = |hour: u32, name: &str| {
        let slower = at_hour(&record, hour).replace("\"elapsed_ns\":[2", "\"elapsed_ns\":[6");
        let header: serde_json::Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
        let places = ["/header/sources/own", "/header/sources/code", "/header/sources/beneath", "/header/built"];
        let hashes = places.iter().filter_map(|place| header.pointer(place)?.as_object()).flatten();
        let of_it = hashes.filter(|(file, _)| file.contains(name)).filter_map(|(_, hash)| hash.as_str());
        summed(&of_it.fold(slower, |text, hash| text.replace(hash, "0123456789abcdef")))
    };
    // Another listing says nothing of this one.
    fake.add_session("a-machine", &other(9, "slow"));
    assert_eq!(value(), before);
    // What stands beneath the listings may differ: then its numbers are older, and speak.
    fake.add_session("a-machine", &other(8, "harness"));
    let both = value();
    assert_eq!(both["sessions"], 2, "{both}");
    let [median, high] = ["median_ns", "high_ns"].map(|key| both[key].as_f64().unwrap());
    let [own, own_high] = ["median_ns", "high_ns"].map(|key| before[key].as_f64().unwrap());
    assert!(median > own && high > own_high, "{before} {both}");
}

#[test]
fn a_session_is_shown_by_itself_and_stands_beside_another() {
    let fake = measured();
    fake.compare();
    let record = at_hour(&fake.record(), 10);
    fake.contribute("a-machine", &record);
    fake.program("slow", &support::observation("slow", 3000));
    succeed(fake.measure(&["--again"]));
    fake.add_session("a-machine", &at_hour(&fake.record(), 12));
    let ratio = |machine: &str| fake.print(&["value", "slow-over-fast", "--machine", machine]);
    assert!(ratio("a-machine/2026-11-20").contains("2.00 ["), "{}", ratio("a-machine/2026-11-20"));
    assert!(ratio("a-machine/2026-11-20-2").contains("3.00 ["), "{}", ratio("a-machine/2026-11-20-2"));
    let different = fake.print(&[
        "different",
        "--machine",
        "a-machine/2026-11-20-2",
        "--beside",
        "a-machine/2026-11-20",
        "--beside",
        "a-machine",
    ]);
    let row = "take a <step> (free): slow over fast: 3.00 [";
    assert!(different.contains(row), "{different}");
    assert!(different.contains("on a-machine/2026-11-20; ") && different.contains("on a-machine, "), "{different}");
    for (name, reason) in [
        ("a-machine/2026-11-19", "has no session \"2026-11-19\"; it has: 2026-11-20, 2026-11-20-2"),
        ("local/2026-11-20", "this machine has no sessions"),
        ("moon/2026-11-20", "unknown machine \"moon\""),
    ] {
        let refused = fail(fake.tally(&["value", "slow-over-fast", "--machine", name]));
        assert!(refused.contains(reason), "{refused}");
    }
    let twice = fail(fake.tally(&["different", "--beside", "a-machine", "--beside", "a-machine"]));
    assert!(twice.contains("a-machine is named twice"), "{twice}");
}

#[test]
fn a_process_that_was_killed_is_counted_from_a_session_as_from_a_record() {
    let fake = Fake::new();
    let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n";
    let works = support::observation("slow", 2000);
    fake.program("slow", &format!("{count}; if [ $((n / 2 % 3)) = 1 ]; then kill -KILL $$; fi; {works}"));
    fail(fake.measure(&[]));
    said(&fake, &["export", "a-machine"]);
    for command in [&["value", "slow[free]"][..], &["table", "pair"], &["claim", "T1"]] {
        let local = fake.print(command);
        assert!(local.contains("failed: ended by signal 9"), "{local}");
        assert_eq!(fake.print(&[command, &["--machine", "a-machine"]].concat()), local);
    }
}
