//! Programs that are rewritten: what was measured before still speaks of them where they do the
//! same work.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Fake, fail, observation, succeed};

/// A checkout as it was, with its programs built, and one in which a program was rewritten, with a
/// record of how it was.
fn before_and_after() -> (Fake, Fake) {
    let (before, after) = (Fake::new(), Fake::new());
    for (program, ns) in [("fast", 1000), ("slow", 2000)] {
        let once = "case \"$*\" in *--once*) exit 0;; esac\n";
        before.script(&format!("target/release/{program}"), &format!("{once}{}", observation(program, ns)));
    }
    succeed(after.measure(&[]));
    after.write(
        "benches-src/chapter/src/bin/slow.rs",
        "//! One operation: a slow step.\n\nfn slow(laps: Laps) {\n    for () in laps {}\n}\n",
    );
    assert!(table(&after).contains("<strong>stale</strong>"));
    (before, after)
}

fn table(fake: &Fake) -> String {
    fake.print(&["table", "pair", "--form", "page"])
}

fn compare(before: &Fake, after: &Fake) -> Command {
    let mut command = after.tally(&["compare-builds", "--programs", "programs", "--before"]);
    command.arg(before.root());
    command
}

#[test]
fn a_record_of_a_build_that_takes_as_long_is_shown_with_that_said() {
    let (before, after) = before_and_after();
    succeed(compare(&before, &after));
    let page = table(&after);
    assert!(!page.contains("<strong>stale</strong>"), "{page}");
    assert!(page.contains("was shown to do the same work: side by side, on"), "{page}");
    let written = after.read("data/equivalences.toml");
    assert!(written.contains("program = \"slow\"") && written.contains("of the time before, 12 rounds"), "{written}");
    assert!(!written.contains("program = \"fast\""), "which nobody touched: {written}");
    // What is known already is not compared again.
    succeed(compare(&before, &after));
    assert_eq!(after.read("data/equivalences.toml"), written);
    // Rewritten once more, it is another listing.
    after.write("benches-src/chapter/src/bin/slow.rs", "//! One operation: another slow step.\n\nfn other() {}\n");
    assert!(table(&after).contains("<strong>stale</strong>"));
}

#[test]
fn a_build_that_takes_longer_stays_stale() {
    let (before, after) = before_and_after();
    after.program("slow", &observation("slow", 2200));
    succeed(compare(&before, &after));
    assert!(table(&after).contains("<strong>stale</strong>"));
}

#[test]
fn a_program_that_fails_now_does_not_do_the_same_work() {
    let (before, after) = before_and_after();
    after.program("slow", "exit 3");
    let said = fail(compare(&before, &after));
    assert!(said.contains("chapter/pair: slow[") && said.contains("failed"), "{said}");
    assert!(!after.path("data/equivalences.toml").exists());
}

#[test]
fn asked_to_stop_while_it_counts_it_stops_and_says_nothing_of_the_program() {
    let (before, after) = before_and_after();
    let began = after.path("began");
    before.script("target/release/slow", &format!("touch {}; sleep 1", began.display()));
    let mut compared = compare(&before, &after).arg("--count").stderr(Stdio::piped()).spawn().unwrap();
    while !began.exists() && compared.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-TERM", &compared.id().to_string()]).status().unwrap().success());
    let output = compared.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("Run again to go on"), "{said}");
    assert!(!said.contains("not known to do the same work"), "{said}");
}

#[test]
fn what_is_no_checkout_is_said_to_be_none() {
    let after = Fake::new();
    let said = fail(after.tally(&["compare-builds", "--programs", "programs", "--before", "nowhere"]));
    assert!(said.contains("nowhere is no checkout of the book"), "{said}");
}
