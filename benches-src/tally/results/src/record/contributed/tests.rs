//! A folder that comes to be, and what must not be in it.

use proptest::prelude::*;

use super::*;
use crate::record::digest::tests::record;

/// A record of an experiment that began on this day at this hour.
fn begun(experiment: &str, day: &str, hour: u32) -> RawRecord {
    let mut own = record(experiment);
    own.header.before.time = format!("{day}T{hour:02}:00:00Z");
    own.header.machine.known = [("CPU".to_owned(), "A CPU".to_owned())].into();
    if let Some(end) = &mut own.end {
        end.after.time = format!("{day}T{hour:02}:30:00Z");
    }
    own
}

/// Opens a folder, where no digest can be kept.
fn open(folder: &Path) -> Contributed {
    Contributed::open(folder, Path::new("/dev/null/digests"))
}

fn add(folder: &Path, records: Vec<RawRecord>) -> Result<Vec<PathBuf>> {
    add_to(folder, Path::new("/dev/null/digests"), records)
}

/// What is done to a file.
type Damage = fn(&Path);

const DAY: &str = "2026-11-20";

/// A folder with one session of two records.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let written = add(folder.path(), vec![begun("socket", DAY, 10), begun("laps", DAY, 11)]).unwrap();
    assert_eq!(written, [folder.path().join("sessions/2026-11-20.bundle.zst")]);
    folder
}

fn names(folder: &Path) -> Vec<String> {
    open(folder).sessions.iter().map(Session::name).collect()
}

/// What is said of a folder: that it cannot be read, and that something does not belong there.
fn said(folder: &Path) -> (String, String) {
    let own = open(folder);
    (own.unreadable.join("\n"), own.strays.join("\n"))
}

#[test]
fn sessions_are_added_and_what_is_there_already_is_not_added_again() {
    let folder = folder();
    let path = folder.path();
    let machine = fs::read_to_string(path.join("machine.toml")).unwrap();
    assert!(machine.starts_with("# What is known") && machine.contains("[known]\nCPU = \"A CPU\""), "{machine}");
    let same = vec![begun("socket", DAY, 10), begun("laps", DAY, 11)];
    assert!(add(path, same.clone()).unwrap().is_empty());
    // Later ones of an experiment are in a session after the others, each at most once.
    let more = [begun("laps", DAY, 12), begun("laps", "2026-11-21", 9), begun("yield", DAY, 13)];
    let written = add(path, [same, more.to_vec()].concat()).unwrap();
    assert_eq!(written.len(), 2);
    assert_eq!(names(path), ["2026-11-20", "2026-11-20-2", "2026-11-21"]);
    let own = open(path);
    let records: Vec<(String, &str)> =
        own.records().map(|(session, _, header)| (session.name(), header.experiment.as_str())).collect();
    let wanted = [
        ("2026-11-20", "laps"),
        ("2026-11-20", "socket"),
        ("2026-11-20-2", "laps"),
        ("2026-11-21", "laps"),
        ("2026-11-21", "yield"),
    ];
    assert_eq!(records, wanted.map(|(session, experiment)| (session.to_owned(), experiment)));
    assert_eq!(said(path), (String::new(), String::new()));
    for session in &own.sessions {
        session.check_digest().unwrap();
        for record in session.records_as_written().unwrap() {
            let known = own.records().find(|(.., header)| ***header == record.header).unwrap();
            assert_eq!(known.0.record(known.1).unwrap(), record.seen());
        }
    }
}

#[test]
fn what_was_left_by_a_kill_or_an_older_tally_is_no_session_and_is_named() {
    let folder = folder();
    let path = folder.path();
    let sessions = path.join("sessions");
    fs::write(sessions.join(".tmpAbCdEf"), "half").unwrap();
    // What older tallies kept beside a bundle.
    fs::write(sessions.join("2026-11-20.digest.zst"), "forged").unwrap();
    let (unreadable, strays) = said(path);
    assert!(unreadable.is_empty() && names(path) == ["2026-11-20"], "{unreadable}");
    for stray in [".tmpAbCdEf", "2026-11-20.digest.zst"] {
        assert!(strays.contains(&format!("{stray}: its name is no session's")), "{strays}");
    }
    let written = add(path, vec![begun("laps", DAY, 12)]).unwrap();
    assert_eq!(written, [sessions.join("2026-11-20-2.bundle.zst")]);
}

#[test]
fn what_cannot_be_read_is_named_with_its_path_and_the_cure() {
    let bad: [(&str, Damage, &str); 10] = [
        ("truncated", |file| truncate(file, 40), "it cannot be unpacked"),
        ("empty", |file| truncate(file, 0), "it cannot be unpacked"),
        ("foreign", |file| fs::write(file, "a letter to somebody").unwrap(), "it cannot be unpacked"),
        ("a link to what has no end", |file| link(file, "/dev/zero"), "it is no file"),
        (
            "a folder",
            |file| {
                fs::remove_file(file).unwrap();
                fs::create_dir(file).unwrap()
            },
            "it is no file",
        ),
        ("endless", |file| fs::File::options().write(true).open(file).unwrap().set_len(65 << 20).unwrap(), "64 MiB"),
        (
            "gigabytes",
            |file| fs::write(file, compression::pack(&vec![0; 64 << 20]).unwrap().repeat(64)).unwrap(),
            "unpacks to more than",
        ),
        ("of another day", |file| rename(file, "2026-11-19"), "it was measured on 2026-11-20"),
        ("without a machine", |file| fs::remove_file(machine_of(file)).unwrap(), "machine.toml: it is missing"),
        ("of another machine", another_machine, "laps is of another machine than machine.toml: they differ in CPU"),
    ];
    for (what, damage, reason) in bad {
        let folder = folder();
        damage(&folder.path().join("sessions/2026-11-20.bundle.zst"));
        let (unreadable, _) = said(folder.path());
        assert!(
            unreadable.contains(reason) && unreadable.contains(".bundle.zst: ")
                || unreadable.contains("machine.toml: "),
            "{what}: {unreadable}"
        );
        assert!(unreadable.contains(reason) && unreadable.contains("git checkout -- "), "{what}: {unreadable}");
        let error = add(folder.path(), vec![begun("laps", DAY, 12)]).unwrap_err().to_string();
        assert_eq!(error, unreadable, "{what}: nothing is added to it");
    }
}

#[test]
fn a_byte_that_flipped_costs_the_session_and_never_another_number() {
    let whole = folder();
    let path = "sessions/2026-11-20.bundle.zst";
    let bytes = fs::read(whole.path().join(path)).unwrap();
    let records = |own: &Contributed| own.sessions[0].records_as_written().unwrap();
    for at in (0..bytes.len()).step_by(97) {
        let folder = folder();
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        fs::write(folder.path().join(path), flipped).unwrap();
        let own = open(folder.path());
        match &own.unreadable[..] {
            // A bit that zstd has no use for may be another.
            [] => assert_eq!(records(&own), records(&open(whole.path())), "at {at}"),
            [error] => assert!(error.contains(&format!("{path}: ")) && error.contains("git checkout -- "), "{error}"),
            more => panic!("at {at}: {more:?}"),
        }
    }
}

fn machine_of(bundle: &Path) -> PathBuf {
    bundle.parent().unwrap().with_file_name("machine.toml")
}

fn truncate(file: &Path, bytes: u64) {
    fs::File::options().write(true).open(file).unwrap().set_len(bytes).unwrap();
}

fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
}

fn link(file: &Path, to: &str) {
    fs::remove_file(file).unwrap();
    std::os::unix::fs::symlink(to, file).unwrap();
}

/// Gives a session another name.
fn rename(bundle: &Path, day: &str) {
    fs::rename(bundle, bundle.with_file_name(format!("{day}{BUNDLE}"))).unwrap();
}

fn another_machine(bundle: &Path) {
    let machine = machine_of(bundle);
    let text = fs::read_to_string(&machine).unwrap();
    fs::write(machine, text.replace("A CPU", "Another CPU")).unwrap();
}

#[test]
fn facts_that_are_on_no_list_are_refused() {
    let folder = folder();
    let machine = folder.path().join("machine.toml");
    let text = fs::read_to_string(&machine).unwrap();
    for (more, reason) in [
        ("\"host name\" = \"arthur\"\n", "more of the machine than the allow-list"),
        ("CPU = 7\n", "duplicate key"),
        ("kernel = \"\\u001b[2J\"\n", "a control character"),
        ("???", "TOML parse error"),
    ] {
        fs::write(&machine, text.replace("[unavailable]", &format!("{more}[unavailable]"))).unwrap();
        let (unreadable, _) = said(folder.path());
        assert!(unreadable.contains("machine.toml: ") && unreadable.contains(reason), "{unreadable}");
    }
}

#[test]
fn a_bundle_that_became_another_after_it_was_opened_is_named_with_its_path_and_the_cure() {
    let bad: [(Damage, &str); 5] = [
        (|file| truncate(file, 40), "it is another file than a moment ago"),
        (flip, "it is another file than a moment ago"),
        (|file| fs::write(file, "a letter").unwrap(), "it is another file than a moment ago"),
        (|file| link(file, "/dev/zero"), "it is no file"),
        (|file| fs::remove_file(file).unwrap(), "it is missing"),
    ];
    for (damage, reason) in bad {
        let folder = folder();
        let own = open(folder.path());
        let path = "sessions/2026-11-20.bundle.zst";
        damage(&folder.path().join(path));
        let error = format!("{:#}", own.sessions[0].lines().unwrap_err());
        assert!(
            error.contains(&format!("{path}: ")) && error.contains(reason) && error.contains("git checkout -- "),
            "{error}"
        );
    }
}

#[test]
fn what_is_no_part_of_a_machines_folder_is_named_with_the_cure() {
    let folder = folder();
    fs::create_dir(folder.path().join("switch-cost")).unwrap();
    let (unreadable, strays) = said(folder.path());
    assert!(unreadable.is_empty() && strays.contains("switch-cost: it is no part of a machine's folder"), "{strays}");
    assert!(strays.contains("move it elsewhere or remove it"), "{strays}");
}

#[test]
fn an_empty_folder_and_none_have_no_records() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("none")] {
        assert_eq!(said(&path), (String::new(), String::new()));
        assert!(names(&path).is_empty());
    }
}

#[test]
fn names_of_sessions_are_days_with_a_number_from_2_on() {
    for (name, wanted) in [("2026-11-20", Some(1)), ("2026-11-20-2", Some(2)), ("2026-11-20-12", Some(12))] {
        assert_eq!(read_name(name), wanted.map(|number| ("2026-11-20".to_owned(), number)), "{name}");
    }
    for name in [
        "",
        "2026-11-2",
        "2026-11-20-",
        "2026-11-20-1",
        "2026-11-20-02",
        "2026-11-20-x",
        "2026-11-20x",
        "2026_11_20",
        "20260-1-20",
        "ä026-11-20",
        "2026-11-20-99999999999",
    ] {
        assert_eq!(read_name(name), None, "{name}");
    }
}

proptest! {
    #[test]
    fn no_name_is_read_as_another(name in "[0-9a-zä-]{0,14}") {
        if let Some(read) = read_name(&name) {
            prop_assert_eq!(session_path(Path::new(""), &read), Path::new("sessions").join(name + BUNDLE));
        }
    }
}
