//! A small project of its own in a temporary folder, whose programs are shell scripts.

#![allow(dead_code, reason = "each test uses its part of this")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use mdbook_preprocessor::book::{Book, Chapter};
use serde_json::{Value, json};
use tally::project::{Machine, Project};
use tally::record::checksum::with_sum;
use tally::record::contributed::add;
use tally::record::{Digest, RawRecord};

/// A project and its programs.
pub struct Fake {
    folder: tempfile::TempDir,
}

/// A figure in which the two programs are compared.
pub const DUMBBELL: &str = r#"
[[takeaway]]
id = "steps"

[[takeaway.case]]
say = "A slow step takes {slow-over-fast}×."

[[dumbbell]]
name = "steps"
what = "One <step>"
left = { series = "baseline", label = "fast" }
right = { series = "thread", label = "slow" }

[[dumbbell.row]]
label = "take a <step>"
detail = "free"
left = "fast-step"
right = "slow-step-here"
ratio = "slow-over-fast"

[[dumbbell.row]]
label = "take a pinned step"
detail = "not measured in a quick run"
left = "fast-step"
right = "slow-step-pinned"
ratio = "slow-over-fast"
"#;

/// The plan that most tests use: two programs and an A/A pair. Each of its files begins with a line
/// that names it.
pub const PLAN: &str = r#"
=== programs.toml
[program]
fast = { label = "fast", series = "baseline", defaults = { size = 3 } }
slow = { label = "slow", series = "thread", baseline = "fast", defaults = { size = 3 } }

=== experiments/pair.toml
question = "Which is faster?"
prediction = "The fast one."
per = "step"
headline = "slow[free] / fast[free]"
twins = ["slow[free]"]
limit_seconds = 2
note = "Steps of <nobody>."

[[cells]]
programs = ["fast"]
quick = { placement = "free" }

[[cells]]
programs = ["slow"]
quick = { placement = "free" }
full = { placement = ["free", "one-cpu"] }

=== claims/T1.toml
sentence = "Slow takes twice as long."
source = "elsewhere"
experiment = "pair"
holds = "It does: {slow[free] / fast[free]}."
shifted = "It takes longer, by {slow[free] / fast[free]}."
does_not_hold = "It does not: {slow[free] / fast[free]}."
undecided = "Nobody knows: {slow[free] / fast[free]}."

[[parts]]
name = "slow over fast"
quantity = "slow[free] / fast[free]"
published = "twice"
no_effect = "1"
"#;

/// What stands under the figure of that plan.
pub const CAPTION: &str = "A slow step takes {slow[free]}, {slow[free] / fast[free]} times a fast one.";

/// What is said of programs in a plan that says nothing of them.
const PROGRAMS: &str = r#"[program]
fast = { label = "fast", series = "baseline" }
slow = { label = "slow", series = "thread" }
"#;

/// The same plan with another experiment, which has the same cells.
pub fn plan_with_another(name: &str) -> String {
    let own = PLAN.split("=== ").find(|file| file.starts_with("experiments/")).unwrap();
    format!("{PLAN}\n=== {}", own.replace("experiments/pair", &format!("experiments/{name}")))
}

/// A calculator of that plan's two programs.
pub const CALCULATOR: &str = r#"
[[setting]]
name = "requests"
label = "requests a second"
least = 1
most = 1000000

[[setting]]
name = "work"
label = "work per request"
note = "without steps"
unit = "µs"
size = 1e-6
least = 1
most = 1000

[[derived]]
name = "steps"
label = "steps per request"
formula = "1 + 0 * requests"

[[input]]
name = "one_switch"
label = "one step"
along = "work"

[[input.option]]
name = "io"
label = "free"
at = 5
note = "A step."
experiment = "pair"
thread = "slow[free]"
task = "fast[free]"

[[input.option]]
name = "channel"
label = "on one CPU"
at = 1000
note = "A step that only a full run measures."
experiment = "pair"
thread = "slow[one-cpu]"
task = "slow[one-cpu]"

[[input]]
name = "one_pinned"
label = "one pinned step"

[[input.option]]
name = "only"
label = "on one CPU"
note = "A step that only a full run measures."
experiment = "pair"
thread = "slow[one-cpu]"
task = "slow[one-cpu]"

[[bound]]
name = "cpu"
label = "a tenth of the work, or a hundredth of a core if that is more"
limits = ["0.1 * requests * work", "0.01"]
at = "most"
lever = "requests"
kept = "at most {high} cores more"
broken = "at least {low} cores more for {requests} requests, and {limit} would be fine"
between = "between {low} and {high} cores more"

[[output]]
name = "switching"
label = "cores for steps"
unit = "cores"
formula = "requests * steps * one_switch"

[[output]]
name = "extra"
label = "cores more for threads"
unit = "cores"
of = "extra"
formula = "requests * steps * one_switch"
bound = "cpu"

[[output]]
name = "pinned"
label = "cores for pinned steps"
unit = "cores"
formula = "requests * one_pinned"

[sentences]
yes = { say = "Yes: {parts}.", between = ", ", last = ", and " }
no = { say = "No: {parts}.", between = "; ", last = "; " }
probably = { say = "Probably: {parts}.", between = "; ", last = "; " }
open = { say = "Too uncertain to say: {parts}.", between = "; ", last = "; " }
hardly = { say = "Probably not: {parts}.", between = "; ", last = "; " }
senseless = { say = "These numbers cannot be: {parts}.", between = "; ", last = "; " }
pool = { say = "A pool needs {parts}.", between = ", ", last = ", and " }
raise = { say = "A limit must be raised first: {parts}.", between = "; ", last = "; " }
beyond = { say = "Not measured: {parts}.", between = ", ", last = " and " }
unknown = { say = "Cannot say: {parts}.", between = "; ", last = "; " }
still = { say = "They would still do up to {parts}.", between = ", ", last = " or " }
would = { say = "They would do up to {parts}.", between = ", ", last = " and " }

[[case]]
name = "A service"
requests = 100000
work = 5

[[case]]
name = "Another"
requests = 100000
work = 1000
"#;

const PUBLISHED: &str = r#"
title = "Elsewhere"
url = "https://example.org/elsewhere"
date = "2020"

[[figure]]
id = "twice"
value = 2
unit = "ratio"
label = "2020"
machine = "a laptop"

[[figure]]
id = "slow-step"
value = 1900
unit = "ns"
label = "2020"
machine = "a laptop"
beside = "slow[free, size=3]"
"#;

impl Fake {
    /// A project with this plan.
    pub fn with_plan(plan: &str) -> Self {
        Self::with_plan_in(plan, tempfile::tempdir().unwrap())
    }

    /// The usual project, below this folder.
    pub fn inside(folder: &Path) -> Self {
        Self::with_plan_in(PLAN, tempfile::tempdir_in(folder).unwrap())
    }

    fn with_plan_in(plan: &str, folder: tempfile::TempDir) -> Self {
        let fake = Self { folder };
        for (path, text) in [
            ("book.toml", "[book]\nsrc = \"book/src\"\n"),
            ("rust-toolchain.toml", ""),
            (".cargo/config.toml", ""),
            ("benches-src/Cargo.toml", ""),
            ("benches-src/Cargo.lock", ""),
            ("benches-src/harness/Cargo.toml", ""),
            ("benches-src/harness/src/lib.rs", ""),
            ("benches-src/observation/Cargo.toml", ""),
            ("benches-src/observation/src/lib.rs", ""),
            ("benches-src/chapter/Cargo.toml", ""),
            ("benches-src/chapter/src/lib.rs", ""),
            // A module that no program uses.
            ("benches-src/chapter/src/aside.rs", ""),
            (
                "benches-src/chapter/src/bin/fast.rs",
                "//! One operation: a fast step.\n\nfn run(laps: Laps) {\n    for () in laps {}\n}\n",
            ),
            (
                "benches-src/chapter/src/bin/slow.rs",
                "//! One operation: a slow step.\n\nfn run(laps: Laps) {\n    for () in laps {}\n}\n",
            ),
            ("benches-src/chapter/programs.toml", PROGRAMS),
            ("book/src/chapter/programs.md", "<!-- cmdrun tally listing --all chapter -->\n"),
            ("data/published/elsewhere.toml", PUBLISHED),
            ("data/machines/.keep", ""),
            ("book/src/chapter.md", "# Chapter\n"),
        ] {
            fake.write(path, text);
        }
        fake.plan(plan);
        fake.program("fast", &observation("fast", 1000));
        fake.program("slow", &observation("slow", 2000));
        fake
    }

    /// The usual project.
    pub fn new() -> Self {
        Self::with_plan(PLAN)
    }

    /// Writes the files of a plan.
    pub fn plan(&self, plan: &str) {
        for file in plan.split("=== ").skip(1) {
            let (name, text) = file.split_once('\n').unwrap();
            self.write(&format!("benches-src/chapter/{name}"), text);
        }
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A path in it.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Makes this record, as a checkout's own lies there, the only one of a machine that came with
    /// the checkout. Lines get sums that are right.
    pub fn contribute(&self, machine: &str, record: &str) {
        let _ = fs::remove_dir_all(self.path(&format!("data/machines/{machine}")));
        self.add_session(machine, record);
    }

    /// Makes it one more session of a machine.
    pub fn add_session(&self, machine: &str, record: &str) {
        let name = record.split("\"experiment\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chapter").join(format!("{name}.jsonl"));
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, summed(record)).unwrap();
        let record = RawRecord::load(&path).unwrap().unwrap();
        let project = Project::at(&self.path("")).unwrap();
        // What is read is kept, as it is where somebody has looked at it before.
        for bundle in add(&project, &Machine::Exported(machine.to_owned()), vec![record]).unwrap() {
            Digest::of(&fs::read(bundle).unwrap(), &project.digests()).unwrap();
        }
    }

    /// All lines of all records of all sessions of a machine, one after the other.
    pub fn unpacked(&self, machine: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let mut unpack = self.tally(&["unpack", machine, "--to"]);
        unpack.arg(folder.path());
        succeed(unpack);
        let files = walkdir::WalkDir::new(folder.path()).sort_by_file_name().into_iter().flatten();
        let files = files.filter(|file| file.file_type().is_file());
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    }

    /// Puts a record that was changed in the place of the one that was measured.
    pub fn change_record(&self, record: &str) {
        self.write("data/local/chapter/pair.jsonl", &summed(record));
    }

    /// Compares the two programs in a figure.
    pub fn compare(&self) {
        let quantity = |name: &str, unit: &str, formula: &str| {
            format!(
                "[[quantity]]\nname = \"{name}\"\nexperiment = \"pair\"\nunit = \"{unit}\"\nformula = \"{formula}\"\n"
            )
        };
        let quantities = [
            quantity("slow-over-fast", "ratio", "slow[free] / fast[free]"),
            quantity("fast-step", "ns", "fast[free]"),
            quantity("slow-step-here", "ns", "slow[free]"),
            quantity("slow-step-pinned", "ns", "slow[one-cpu]"),
        ];
        self.write("benches-src/chapter/quantities.toml", &quantities.concat());
        self.write("benches-src/chapter/takeaways.toml", DUMBBELL);
        self.write("book/src/chapter.md", "# Chapter\n\n<!-- cmdrun tally figure steps -->\n");
    }

    /// Makes a machine the one that published pages show.
    pub fn refer_to(&self, machine: &str) {
        std::os::unix::fs::symlink(machine, self.path("data/machines/reference")).unwrap();
    }

    /// Puts a shell script in the place of a program. It is asked for its work once before it is
    /// timed, and then does nothing.
    pub fn program(&self, name: &str, script: &str) {
        let once = "case \"$*\" in *--once*) exit 0;; esac\n";
        self.raw_program(name, &format!("{once}{script}"));
    }

    /// The same without the answer to `--once`.
    pub fn raw_program(&self, name: &str, script: &str) {
        self.script(&format!("programs/{name}"), script);
    }

    /// Writes a shell script that can be started. Another process writes it: what this one has open
    /// for writing is open in every child too that another test starts meanwhile, until the child's
    /// own code begins, and cannot be started by anybody ("Text file busy").
    pub fn script(&self, path: &str, script: &str) {
        let mut install = Command::new("install");
        install.args(["-D", "--mode=755", "/dev/stdin"]).arg(self.path(path)).stdin(Stdio::piped());
        let mut install = install.spawn().unwrap();
        let mut text = install.stdin.take().unwrap();
        writeln!(text, "#!/bin/sh\n{script}").unwrap();
        drop(text);
        assert!(install.wait().unwrap().success(), "{path} cannot be written");
    }

    /// The command `tally …` in this project.
    pub fn tally(&self, arguments: &[&str]) -> Command {
        // Signals do what they usually do, also where who started the tests ignores some, as nohup
        // does.
        let mut command = Command::new("/usr/bin/env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_tally")]).args(arguments);
        command.current_dir(self.root()).env("TMPDIR", self.root());
        // Tests measure nothing real, and wait neither for one another nor for what does.
        command.env("TALLY_TEST_LOCK", self.root());
        command
    }

    /// The command `tally measure` with the scripts as programs.
    pub fn measure(&self, arguments: &[&str]) -> Command {
        let mut command = self.tally(&["measure", "--programs", "programs"]);
        command.args(arguments);
        command
    }

    /// What `tally …` prints; it must succeed.
    pub fn print(&self, arguments: &[&str]) -> String {
        succeed(self.tally(arguments))
    }

    /// The record that was measured.
    pub fn record(&self) -> String {
        self.read("data/local/chapter/pair.jsonl")
    }
}

/// A record whose lines have the sums that they come to, whatever was changed in them.
pub fn summed(record: &str) -> String {
    let own = |line: &str| match line.rsplit_once(",\"sum\":") {
        Some((text, _)) => with_sum(&format!("{text}}}")),
        None if line.ends_with('}') => with_sum(line),
        // What was cut off stays so.
        None => line.to_owned(),
    };
    record.lines().map(|line| own(line) + "\n").collect()
}

/// A script that prints an observation whose operations take so many nanoseconds, of where it was
/// told to run.
pub fn observation(program: &str, ns: u64) -> String {
    let placement = r#"placement=$(echo "$*" | sed -n 's/.*--placement \([a-z-]*\).*/\1/p')"#;
    format!("{placement}; echo '{}' | sed \"s/PLACEMENT/${{placement:-free}}/\"", line(program, ns))
}

/// What it prints, with a word for the placement.
pub fn line(program: &str, ns: u64) -> String {
    let window = |operations: u64| {
        format!(
            r#"{{"operations":{operations},"elapsed_ns":{},"counters":{{"voluntary_switches":{operations},"user_ns":10,"system_ns":20}}}}"#,
            ns * operations
        )
    };
    format!(
        r#"{{"program":"chapter/{program}","parameters":{{"size":3}},"placement":"PLACEMENT","samples":[{},{}],"doubts":["no steady state: 1 against 2"]}}"#,
        window(1000),
        window(1000)
    )
}

/// Hands a book of one chapter to a preprocessor.
pub fn preprocess(fake: &Fake, which: &str, settings: Value, content: &str) -> Output {
    let mut command = fake.tally(&["preprocess", which]);
    command.env("TALLY_PROGRAMS", fake.path("programs"));
    hand_over(command, &book(fake, settings, content))
}

/// Runs a command with this as its standard input.
pub fn hand_over(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that refuses its settings does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// What mdBook 0.5 hands to a preprocessor: a book of one chapter.
pub fn book(fake: &Fake, settings: Value, content: &str) -> String {
    let mut book = Book::new();
    book.push_item(Chapter::new("Chapter", content.to_owned(), "chapter.md", Vec::new()));
    let context = json!({
        "root": fake.root(),
        "config": { "book": { "src": "book/src" }, "preprocessor": { "measure": settings } },
        "renderer": "html",
        "mdbook_version": "0.5.4",
    });
    json!([context, book]).to_string()
}

/// Runs a command that must succeed; its standard output.
pub fn succeed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must fail; its standard error.
pub fn fail(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{command:?} succeeded\n{}", String::from_utf8_lossy(&output.stdout));
    errors(&output)
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A record as if another CPU had made it.
pub fn of_another_cpu(record: &str) -> String {
    let other = record.replace("\"CPU\":\"", "\"CPU\":\"Another ");
    assert_ne!(other, record);
    other
}
