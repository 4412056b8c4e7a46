//! The entry for an experiment that is its own measurement, driven through a real program.

use std::process::Command;

/// A plain `cargo test` builds examples before it runs tests, beside the folder of the test's own executable, and so does `ci/test`. Under
/// `--all-targets` cargo would build them as tests instead, without a name to find them by.
fn clock() -> Command {
    let here = std::env::current_exe().unwrap();
    Command::new(here.ancestors().nth(2).unwrap().join("examples/clock"))
}

#[test]
fn a_program_that_is_done_once_prints_its_measures() {
    let output = clock().args(["--json", "--readings", "100"]).output().unwrap();
    assert!(output.status.success());
    let seen: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["measures"]["step"]["unit"], "ns");
    assert_eq!(seen["measures"]["step"]["values"].as_array().unwrap().len(), 100);
    assert_eq!(seen["samples"].as_array().unwrap().len(), 0);
}

#[test]
fn no_measure_is_an_error() {
    let output = clock().args(["--json", "--readings", "0"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("measure step has no value"));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_measure_that_was_not_described_is_an_error() {
    let output = clock().args(["--json", "--name", "stride"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the program describes no measure stride in ns"));
}

#[test]
fn a_program_says_what_it_has() {
    let output = clock().arg("--describe").output().unwrap();
    assert!(output.status.success());
    let said: observation::Description = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said.program, "harness/clock");
    let names: Vec<_> = said.parameters.iter().map(|own| (own.name.as_str(), own.default.as_deref())).collect();
    assert_eq!(names, [("readings", Some("10")), ("name", Some("step"))]);
    assert_eq!((said.measures[0].name.as_str(), said.measures[0].unit.as_str()), ("step", "ns"));
}
