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
