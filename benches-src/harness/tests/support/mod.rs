//! How the tests of every chapter run a program: as a reader would.

// Not every file of tests needs both.
#![allow(dead_code)]

use std::io::Write;
use std::process::{Command, Output};

use observation::Observation;

/// Says that a test is left out, and why. libtest hides what tests print while all goes well, and this is not to be hidden: `ci/test` wants none.
pub fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {test}, since {why}");
}

/// Runs a program, which may come with flags of its own, with further `flags`.
pub fn run(program: &[&str], flags: &[&str]) -> Output {
    Command::new(program[0]).args(&program[1..]).args(flags).output().unwrap()
}

/// What it prints for scripts; it must end well.
#[track_caller]
pub fn observe(program: &[&str], flags: &[&str]) -> Observation {
    seen(run(program, &[flags, &["--json"]].concat()))
}

/// The observation in what a program printed; it must have ended well.
#[track_caller]
pub fn seen(output: Output) -> Observation {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
