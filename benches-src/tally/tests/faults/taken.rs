//! Each system call and each file of /proc and /sys that the sources ask for is taken away in turn,
//! from tally and from the programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use syscalls::Sysno;
use tally::book::cell::Cell;
use tally::book::plan::Plans;
use tally::measure::budget;
use tally::project::Project;
use tally::record::Effort;
use tally::record::programs::Programs;

use super::lacking::{self, Search};
use super::support::Fake;
use super::without::{self, Lacking, Ran};
use super::{Case, SKIPPED, Seen, case, has, unless};

/// A kind whose cases run side by side: each has a checkout of its own, and waits for nobody.
pub const KIND: &str = "One missing thing makes its own numbers unavailable, and ends nothing else";

static SEARCH: LazyLock<Search> = LazyLock::new(|| lacking::search(&root().join("benches-src")));

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub fn cases() -> Vec<Case> {
    let searched = case(KIND, "the sources are searched", "of each function it is known what it calls", || {
        let Search { calls, files, unknown } = &*SEARCH;
        unless(!unknown.is_empty(), format!("{unknown:?}"), format!("{} calls, {} files", calls.len(), files.len()))
    });
    let complete =
        case(KIND, "tally measures, and nothing is taken away", "what it asks for is what a search finds", || {
            let nothing = Lacking::Files(Regex::new("^nothing$").unwrap());
            let fake = Fake::new();
            let Ran { output, asked, .. } = run(&nothing, fake.measure(&[]))?;
            unless(!output.status.success(), String::from_utf8_lossy(&output.stderr), "")?;
            let found: Vec<Regex> =
                SEARCH.files.keys().filter(|own| *own != "/proc").map(|own| lacking::files(own)).collect();
            let unknown: Vec<&String> =
                asked.iter().filter(|path| !found.iter().any(|own| own.is_match(path))).collect();
            unless(!unknown.is_empty(), format!("{unknown:?}"), format!("{} files", asked.len()))
        });
    let unlimited = case(
        KIND,
        "a process may not ask for its limits",
        "no limit is made up: all file descriptors and connections are there",
        programs_without_limits,
    );
    let mut cases = vec![searched, complete, unlimited];
    for (call, sources) in &SEARCH.calls {
        cases.extend(each(format!("the system call {call}"), Lacking::Call(*call), sources));
    }
    for (pattern, sources) in &SEARCH.files {
        cases.extend(each(pattern.clone(), Lacking::Files(lacking::files(pattern)), sources));
    }
    cases
}

/// What is tried of one thing: tally, and the programs that ask for it.
fn each(name: String, lacking: Lacking, sources: &BTreeSet<String>) -> Vec<Case> {
    let of_tally = sources.iter().any(|source| source.starts_with("tally/"));
    let own = lacking.clone();
    let tally = of_tally
        .then(|| case(KIND, format!("{name} is taken from tally"), "a page with numbers", move || tally_without(&own)));
    let sources: BTreeSet<String> = sources.iter().filter(|own| !own.starts_with("tally/")).cloned().collect();
    let programs = (!sources.is_empty()).then(|| {
        let done = format!("{name} is taken from programs that ask for it");
        case(KIND, done, "numbers, or the reason why there are none", move || programs_without(&lacking, &sources))
    });
    tally.into_iter().chain(programs).collect()
}

/// Runs a command without something; nothing where the kernel allows no such filter.
fn run(lacking: &Lacking, command: Command) -> Result<Ran, String> {
    without::run(lacking, command)
        .map_err(|error| format!("{SKIPPED}this kernel filters no system calls for us: {error}"))
}

/// Whether anything at all works without it: a shell with a pipe, and a program of Rust that does
/// nothing. In a locale, since only there glibc takes the lock for which it needs futex, without
/// which it ends whoever waits for a thread.
fn anything_works(lacking: &Lacking) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "test \"$(echo 1 | cat)\" = 1"]).env("LC_ALL", "C.UTF-8");
    let mut program = Command::new(env!("CARGO_BIN_EXE_tally"));
    program.arg("--help");
    [shell, program].into_iter().all(|command| run(lacking, command).is_ok_and(|ran| ran.output.status.success()))
}

const NOTHING_WORKS: &str = "skipped, since without it neither a shell nor any program of Rust begins";

fn tally_without(lacking: &Lacking) -> Seen {
    if !anything_works(lacking) {
        return Ok(NOTHING_WORKS.to_owned());
    }
    let fake = Fake::new();
    let mut missed = BTreeSet::new();
    let mut tally = |command: Command| {
        let Ran { output, missed: also, .. } = run(lacking, command)?;
        missed.extend(also);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        unless(!output.status.success() || text.contains("panicked at"), text.clone(), text)
    };
    let said = tally(fake.measure(&[]))?;
    let page = tally(fake.tally(&["table", "pair", "--form", "page"]))?;
    has(&page, &["2.00"])?;
    let facts = tally(fake.tally(&["list", "--machines", "--form", "page"]))?;
    has(&facts, &["virtual machine", "topology"])?;
    let warned = said.lines().filter(|line| line.contains("warning")).collect::<Vec<_>>().join("; ");
    Ok(format!("2.00; asked for in vain: {missed:?} {warned}"))
}

/// The programs as they are measured, and a cell of each that a test run has.
struct Measured {
    folder: PathBuf,
    cells: Vec<(Cell, BTreeSet<String>)>,
}

/// So many programs are tried of those that are made of a file which asks for a thing.
const FEW: usize = 2;

/// What a thing is taken from: each program is one of another listing.
static MEASURED: LazyLock<Measured> = LazyLock::new(|| {
    let project = Project::at(&root()).unwrap();
    let plans = Plans::load(&project).unwrap();
    let mut files = Programs::read(&project).unwrap().files;
    let mut cells = Vec::new();
    // Those that push a machine to its limits do so in a test as well.
    for (_, experiment) in plans.experiments().filter(|(_, experiment)| experiment.is_measured_unasked()) {
        for cell in budget::cells(Effort::Test, experiment).unwrap() {
            if let Some(files) = files.remove(&cell.program) {
                cells.push((cell, files.into_keys().collect()));
            }
        }
    }
    let folder = std::env::var_os("TALLY_PROGRAMS").map_or_else(|| project.programs(), PathBuf::from);
    Measured { folder, cells }
});

/// Without it programs of memory fail, and say so: the session goes on, and its page has the
/// failure.
const NEEDED: &str = "clock_gettime";

/// The programs that ask for it.
fn programs_without(lacking: &Lacking, sources: &BTreeSet<String>) -> Seen {
    if !anything_works(lacking) {
        return Ok(NOTHING_WORKS.to_owned());
    }
    let mut seen = BTreeMap::new();
    for cell in sources.iter().flat_map(|source| asking(source)) {
        let output = run_briefly(lacking, &cell.program, &cell.arguments())?;
        let Ok(observed) = serde_json::from_slice::<Value>(&output.stdout) else {
            let said = String::from_utf8_lossy(&output.stderr);
            let is_needed = matches!(lacking, Lacking::Call(call) if call.name() == NEEDED);
            if is_needed && !output.status.success() && !said.trim().is_empty() {
                seen.insert(&cell.program, format!("fails: {}", said.trim()));
                continue;
            }
            return Err(format!("{cell}: {}: {said}", output.status));
        };
        let reason = observed["unavailable"].as_object().and_then(|all| Some(all.iter().next()?.1.to_string()));
        seen.insert(&cell.program, reason.unwrap_or("numbers".to_owned()));
    }
    Ok(seen.iter().map(|(program, seen)| format!("{program}: {seen}")).collect::<Vec<_>>().join("; "))
}

/// Runs a program for three operations without something.
fn run_briefly(lacking: &Lacking, program: &str, arguments: &[String]) -> Result<Output, String> {
    let program = MEASURED.folder.join(program);
    if !program.is_file() {
        return Err(format!("{SKIPPED}{} is not built", program.display()));
    }
    let mut command = Command::new(program);
    command.args(arguments).args(["--iters", "3", "--warmups", "1", "--json"]);
    Ok(run(lacking, command)?.output)
}

fn programs_without_limits() -> Seen {
    let without = Lacking::Call(Sysno::prlimit64);
    let observed = |program: &str, arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let output = run_briefly(&without, program, &arguments)?;
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{error}: {output:?}"))
    };
    let ring: Value = observed("thread-socket", &["--hops", "500"])?;
    let no_laps = ring["samples"].as_array().is_none_or(Vec::is_empty);
    unless(no_laps, ring["unavailable"].to_string(), "")?;
    let server: Value = observed("serve-thread", &["--connections", "100", "--milliseconds", "50"])?;
    let connections = &server["measures"]["connections"]["values"][0];
    unless(*connections != 100.0, server.to_string(), format!("{connections} connections"))
}

/// Some programs that a file of sources is part of. What lies beneath all of them is part of those
/// that pin their threads, and of others.
fn asking(source: &str) -> impl Iterator<Item = &'static Cell> {
    let is_asking =
        move |(_, files): &&(Cell, BTreeSet<String>)| source.starts_with("harness/") || files.contains(source);
    MEASURED.cells.iter().filter(is_asking).map(|(cell, _)| cell).take(FEW)
}
