//! How the tests of every chapter run a program: as a reader would.

// Not every file of tests needs both.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use observation::{Description, Observation};

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

/// Runs whatever lies in the `src/bin` of the crate that is tested, so that a new program is tested without a list: it does its work once, and
/// reports no parameter and no measure but those that it says it has. `flags` are what it needs for that; none at all where it cannot run alone.
#[track_caller]
pub fn each_program_does_what_it_says(flags: impl Fn(&str) -> Option<&'static [&'static str]>) {
    let built = std::env::current_exe().unwrap();
    let built = built.ancestors().nth(2).expect("tests are built in a folder beside the programs");
    let names = programs_of_the_crate();
    assert!(!names.is_empty(), "src/bin has no program");
    for name in names {
        let program = built.join(&name).into_os_string().into_string().unwrap();
        let described = description(&program);
        assert_eq!(described.program, format!("{}/{name}", env!("CARGO_PKG_NAME")));
        let Some(flags) = flags(&name) else { continue };
        let seen = observe(&[&program], &[flags, &["--once"]].concat());
        let known: BTreeSet<_> = described.parameters.iter().map(|own| own.name.as_str()).collect();
        assert!(seen.parameters.keys().all(|own| known.contains(own.as_str())), "{name}: {known:?}, but {seen:?}");
        let is_known = |own: &str, unit: &str| {
            described.measures.iter().any(|known| is_of(&known.name, own) && known.unit == unit)
        };
        let known = seen.measures.iter().all(|(own, measure)| is_known(own, &measure.unit));
        assert!(known, "{name}: {described:?}, but {seen:?}");
        let worked = seen.samples.iter().any(|sample| sample.operations > 0) || !seen.measures.is_empty();
        assert!(worked || seen.unavailable.contains_key("elapsed"), "{name} did nothing: {seen:?}");
    }
}

/// Whether a measure is described by this name, which may end in `*`.
fn is_of(described: &str, own: &str) -> bool {
    described.strip_suffix('*').map_or(described == own, |begin| own.starts_with(begin))
}

/// The names of all files that are programs of the crate that is tested.
pub fn programs_of_the_crate() -> Vec<String> {
    let folder = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin")).unwrap();
    let files =
        folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "rs"));
    files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// What a program says it has: parameters and measures, each with a name and a meaning.
#[track_caller]
pub fn description(program: &str) -> Description {
    let output = run(&[program], &["--describe"]);
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let described: Description = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!described.measures.is_empty(), "{program} says of no measure that it has it");
    assert!(described.measures.iter().all(|own| !own.means.is_empty()), "{described:?}");
    assert!(described.parameters.iter().all(|own| !own.means.is_empty()), "{described:?}");
    described
}
