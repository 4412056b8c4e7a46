//! What has happened to others who measure, or build such a book: each is one instance of a kind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::support::{Fake, book, hand_over, observation, preprocess, succeed};
use super::without::{self, Lacking};
use super::{Case, Mounted, SKIPPED, Said, case, has, measured, page_of, refused, said, unless, wait_until};
use crate::lacking;
use crate::taken;

pub fn cases() -> Vec<Case> {
    [strangers(), limits(), work(), cures(), axes()].into_iter().flatten().collect()
}

// One missing thing

pub fn missing() -> Vec<Case> {
    let numbers = |fake: &Fake, command: Command| {
        let Said { ok, text } = said(command);
        unless(!ok || text.contains("panicked at"), text, "")?;
        has(&fake.print(&["table", "pair", "--form", "page"]), &["2.00"])
    };
    vec![
        case(
            taken::KIND,
            "a sandbox refuses sched_setaffinity, and a cell is kept to a CPU by hand",
            "others are measured",
            || {
                let fake = Fake::new();
                let taskset = format!("taskset -c 0 true || exit 1; {}", observation("slow", 2000));
                fake.program("slow", &taskset);
                let ran = without::run(&Lacking::Call(syscalls::Sysno::sched_setaffinity), fake.measure(&[]));
                let output = ran.map_err(|error| error.to_string())?.output;
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                unless(output.status.success(), text.clone(), "")?;
                has(&fake.print(&["table", "pair", "--form", "page"]), &["1.00", "failed</span>", "exit status 1"])
            },
        ),
        case(taken::KIND, "the /proc here is another namespace's", "it is measured all the same", move || {
            let fake = Fake::new();
            let mut unshare = Command::new("unshare");
            if !unshare.args(["--pid", "--fork", "true"]).status().is_ok_and(|status| status.success()) {
                return Ok(format!("{SKIPPED}this user cannot make a namespace of processes"));
            }
            let measure = fake.measure(&[]);
            let mut inside = Command::new("unshare");
            inside.args(["--pid", "--fork"]).arg(measure.get_program()).args(measure.get_args());
            inside.current_dir(fake.root()).env("TMPDIR", fake.root()).env("TALLY_TEST_LOCK", fake.root());
            numbers(&fake, inside)
        }),
        case(taken::KIND, "there is no /proc at all", "a page with numbers, and the reasons", || {
            let fake = Fake::new();
            let all = Lacking::Files(lacking::files("/proc"));
            let measured = without::run(&all, fake.measure(&[])).map_err(|error| format!("{SKIPPED}{error}"))?.output;
            let text = String::from_utf8_lossy(&measured.stderr).into_owned();
            unless(!measured.status.success() || text.contains("panicked at"), text, "")?;
            has(&fake.print(&["table", "pair", "--form", "page"]), &["2.00"])?;
            has(&fake.print(&["list", "--machines", "--form", "page"]), &["/proc/cpuinfo does not say"])
        }),
        case(taken::KIND, "nothing of /sys can be seen", "a page with numbers, and the reasons", || {
            let fake = Fake::new();
            let all = Lacking::Files(lacking::files("/sys"));
            let measured = without::run(&all, fake.measure(&[])).map_err(|error| format!("{SKIPPED}{error}"))?.output;
            let text = String::from_utf8_lossy(&measured.stderr).into_owned();
            unless(!measured.status.success() || text.contains("panicked at"), text, "")?;
            has(&fake.print(&["table", "pair", "--form", "page"]), &["2.00"])?;
            has(
                &fake.print(&["list", "--machines", "--form", "page"]),
                &["/sys/devices/system/cpu and node do not say"],
            )
        }),
        case(taken::KIND, "a tool lies where Debian does not put it", "it is found by PATH", move || {
            let plan = super::PLAN.replace(
                "headline = \"slow[free] / fast[free]\"\ntwins = [\"slow[free]\"]\n",
                "count = \"system-calls\"\n",
            );
            let fake = Fake::with_plan(plan.split("=== claims").next().unwrap());
            fake.script(
                "opt/bin/strace",
                "echo 'strace: attach: ptrace(PTRACE_SEIZE): Operation not permitted' >&2; exit 1",
            );
            let mut measure = fake.measure(&[]);
            measure.env("PATH", fake.path("opt/bin"));
            let _ = said(measure);
            let value = fake.print(&["value", "slow[free].calls"]);
            let seen = has(&value, &["unavailable"])?;
            unless(value.contains("not installed"), value, seen)
        }),
        case(taken::KIND, "what a session left behind cannot be removed", "it is said, and measured", move || {
            let fake = Fake::new();
            let busy = fake.path("target/temporary/.nfs0001");
            fs::create_dir_all(&busy).unwrap();
            let Some(_mounted) = Mounted::new(&busy, &["-t", "tmpfs", "tmpfs"]) else {
                return Ok(format!("{SKIPPED}this user cannot mount"));
            };
            let Said { ok, text } = said(fake.measure(&[]));
            let seen = has(&text, &["warning", "target/temporary", "cannot be emptied"])?;
            unless(!ok, text, seen)?;
            has(&fake.print(&["table", "pair", "--form", "page"]), &["2.00"])
        }),
    ]
}

// Others' text at a terminal

fn strangers() -> Vec<Case> {
    const KIND: &str = "Others' text moves no terminal";
    let changed = |done: &'static str, from: &'static str, to: &'static str| {
        case(KIND, done, "no sign of it is printed, by no verb", move || {
            let fake = measured();
            let bad = fake.record().replacen(from, to, 1);
            assert_ne!(bad, fake.record(), "{from} is not in the record");
            fake.change_record(&bad);
            let verbs =
                [&["list"][..], &["list", "--machines"], &["table", "pair"], &["value", "slow[free]"], &["claim"]];
            let all: String = verbs.into_iter().map(|verb| said(fake.tally(verb)).text).collect();
            let seen = has(&all, &["a control character"])?;
            unless(all.contains(['\u{1b}', '\u{7}', '\u{9b}']), all, seen)
        })
    };
    vec![
        changed(
            "a kernel whose release sets a terminal's title",
            "\"kernel\":\"",
            "\"kernel\":\"\\u001b]0;pwned\\u0007",
        ),
        changed("a fact with the eight-bit sign that begins a command", "\"topology\":\"", "\"topology\":\"\\u009b2J"),
        changed("a doubt with a backspace", "\"doubts\":[\"", "\"doubts\":[\"\\u0008"),
        changed("a sentence that runs from right to left", "\"CPU\":\"", "\"CPU\":\"\\u202e"),
    ]
}

// What limits a machine

fn limits() -> Vec<Case> {
    const KIND: &str = "A machine is described by the tightest of what limits it, and as it is while it is measured";
    let grouped = |done: &'static str,
                   controller: &'static str,
                   limits: [(&'static str, &'static str); 2],
                   words: &'static str| {
        case(KIND, done, "it is a fact, with its height", move || {
            let Some(group) = Group::new(controller, limits) else {
                return Ok(format!("{SKIPPED}this user can make no control group that limits so"));
            };
            let fake = Fake::new();
            let measure = fake.measure(&[]);
            let mut inside = Command::new("sh");
            inside.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&group.0);
            inside.arg(measure.get_program()).args(measure.get_args());
            inside.current_dir(fake.root()).env("TMPDIR", fake.root()).env("TALLY_TEST_LOCK", fake.root());
            let Said { ok, text } = said(inside);
            unless(!ok, text, "")?;
            has(&fake.print(&["list", "--machines", "--form", "page"]), &[words])
        })
    };
    let strained = |done: &'static str, before: Value, after: Value, words: &'static str| {
        case(KIND, done, "a doubt says so", move || {
            let fake = measured();
            fake.change_record(&with(&fake.record(), [("/header/before", &before), ("/end/after", &after)]));
            has(&fake.print(&["table", "pair", "--form", "page"]), &["2.00", words])
        })
    };
    let described = |done: &'static str, fact: Value, words: &'static str| {
        case(KIND, done, "a doubt says so", move || {
            let fake = measured();
            fake.contribute("a-machine", &with(&fake.record(), [("/header/machine/known", &fact); 2]));
            has(&fake.print(&["list", "--machines", "--form", "page"]), &[words])
        })
    };
    vec![
        strained(
            "a CPU gets too hot in the middle of a session",
            json!({ "heat": 3 }),
            json!({ "heat": 5 }),
            "slowed down for their heat while the session ran: 2 times",
        ),
        strained(
            "a machine is unplugged",
            json!({ "on_battery": false }),
            json!({ "on_battery": true }),
            "its battery",
        ),
        strained(
            "memory is swapped in the middle of a session",
            json!({ "swapped_pages": 7 }),
            json!({ "swapped_pages": 9 }),
            "memory was swapped while the session ran, 2 pages in all",
        ),
        strained(
            "one reading of the clock takes as long as what is timed",
            json!({ "clock_ns": 1250 }),
            json!({ "clock_ns": 1250 }),
            "one reading of the clock takes 1250 ns",
        ),
        described(
            "the programs are run by an emulator, as in a container for another architecture",
            json!({ "emulation": "x86_64 programs, run by an emulator" }),
            "an emulator runs these programs",
        ),
        described("the clock is a device", json!({ "clock source": "hpet" }), "the clock source is hpet"),
        described(
            "the firmware saves energy",
            json!({ "platform profile": "low-power" }),
            "profile may hold the clock frequency down",
        ),
        grouped(
            "the own group's memory is limited",
            "memory",
            [("memory.max", "500M"), ("memory.limit_in_bytes", "500M")],
            "512000 kB, its own group",
        ),
        // The first version of control groups has no such limit.
        grouped(
            "the own group's memory is taken away beyond some",
            "memory",
            [("memory.high", "500M"); 2],
            "512000 kB, its own group",
        ),
        grouped(
            "a quota of half a CPU on the own group",
            "cpu",
            [("cpu.max", "50000 100000"), ("cpu.cfs_quota_us", "50000")],
            "0.5 CPUs, its own group",
        ),
        grouped("few processes in the own group", "pids", [("pids.max", "500"); 2], "500, its own group"),
    ]
}

/// A record with these members in the objects that stand at these places.
fn with(record: &str, places: [(&str, &Value); 2]) -> String {
    let changed = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("sum");
        for (place, members) in places {
            if let Some(Value::Object(own)) = line.pointer_mut(place) {
                own.extend(members.as_object().unwrap().clone());
            }
        }
        line.to_string() + "\n"
    };
    record.lines().map(changed).collect()
}

/// A control group below the root, until this is dropped.
struct Group(PathBuf);

impl Group {
    /// One with a limit, as the second version of control groups calls it or the first; none where
    /// this user may not, or the kernel has none.
    fn new(controller: &str, limits: [(&str, &str); 2]) -> Option<Self> {
        let mounted = Path::new("/sys/fs/cgroup");
        let is_second = mounted.join("cgroup.controllers").is_file();
        let (folder, (file, value)) =
            if is_second { (mounted.to_owned(), limits[0]) } else { (mounted.join(controller), limits[1]) };
        if !folder.join("cgroup.procs").is_file() {
            return None;
        }
        let own = Self(folder.join(format!("tally-faults-{}", std::process::id())));
        fs::create_dir(&own.0).ok()?;
        let is_there = own.0.join(file).is_file() && fs::write(own.0.join(file), value).is_ok();
        is_there.then_some(own)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has just ended may be in it for a moment longer.
        let _ = wait_until(|| fs::remove_dir(&self.0).is_ok());
    }
}

// Work is thrown away

fn work() -> Vec<Case> {
    const KIND: &str = "No finished work is thrown away for a date";
    let off = |done: &'static str, hours: i64| {
        case(KIND, done, "it is the record, with numbers and a doubt", move || {
            let fake = measured();
            let record = fake.record();
            let end = record.rsplit("\"time\":\"").next().unwrap().split('"').next().unwrap().to_owned();
            let moved: jiff::Timestamp = end.parse().unwrap();
            let moved = (moved + jiff::SignedDuration::from_hours(hours)).to_string();
            let (before, after) = record.rsplit_once(&end).unwrap();
            let page = page_of(&fake, &format!("{before}{moved}{after}"));
            has(&page, &["2.00", "clock was put", &moved])
        })
    };
    vec![
        off("the clock steps back by seven hours, as to a zone that was forgotten", -7),
        off("the clock steps back by 31,939 s, as in a machine that was restored", -9),
        off("the clock steps forward by two days", 49),
    ]
}

// Messages without the cure

fn cures() -> Vec<Case> {
    const KIND: &str = "A message names what is wanted, and how to get it";
    const PAGE: &str = include_str!("../../../../book/src/when-it-does-not-work.md");
    let setting = |name: &'static str, settings: fn() -> Value, words: &'static [&'static str]| {
        case(
            KIND,
            format!("{name} with a value that it cannot have"),
            "the variable is named, and not book.toml",
            move || {
                let fake = Fake::new();
                let mut build = fake.tally(&["preprocess", "measure"]);
                build.env(name, "x").env("TALLY_PROGRAMS", fake.path("programs"));
                let output = hand_over(build, &book(&fake, settings(), ""));
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                let seen = has(&text, words)?;
                unless(output.status.success() || text.contains("book.toml") || text.contains("panicked"), text, seen)
            },
        )
    };
    let of_page = |words: &'static str, cure: &'static str| {
        case(
            KIND,
            format!("somebody searches When it does not work for {words:?}"),
            "its section has the cure",
            move || {
                let section = PAGE.split("\n## ").find(|section| section.contains(words)).ok_or("no section has it")?;
                has(section, &[cure])
            },
        )
    };
    vec![
        setting(
            "MDBOOK_PREPROCESSOR__MEASURE__PUSH_LIMITS",
            || json!({ "push-limits": 1 }),
            &["MDBOOK_PREPROCESSOR__MEASURE__PUSH_LIMITS", "push-limits = 1", "expected a boolean"],
        ),
        setting(
            "MDBOOK_PREPROCESSOR__MEASURE__EFFORT",
            || json!({ "effort": "Full" }),
            &["MDBOOK_PREPROCESSOR__MEASURE__EFFORT", "\"Full\"", "quick, full, never"],
        ),
        case(
            KIND,
            "mdBook 0.4 writes to tally",
            "which version it is, and the command that installs the right one",
            || {
                let fake = Fake::new();
                let old = json!([{ "root": fake.root(), "config": {}, "renderer": "html", "mdbook_version": "0.4.52" }, { "sections": [] }]);
                let output = hand_over(fake.tally(&["preprocess", "measure"]), &old.to_string());
                has(&String::from_utf8_lossy(&output.stderr), &["mdBook 0.4.52", "cargo install --locked mdbook@"])
            },
        ),
        case(
            KIND,
            "a machine that nobody has contributed is to be shown",
            "what it would be called, and which there are",
            || {
                let fake = measured();
                let output = preprocess(&fake, "cmdrun", json!({ "show": "nowhere" }), "");
                unless(output.status.success(), "it is built", "")?;
                has(&String::from_utf8_lossy(&output.stderr), &["nowhere"])
            },
        ),
        case(KIND, "an experiment is misspelt", "the one that was meant is named", || {
            let fake = measured();
            refused(fake.measure(&["pairs"]), &["pairs", "pair"])
        }),
        of_page("lock file version 4", "Install Rust by [rustup]"),
        of_page("edition2024", "Install Rust by [rustup]"),
        of_page("mdBook's input cannot be read", "cargo install --locked mdbook@0.5.4"),
        of_page("file descriptors and the hard limit is", "prlimit --nofile"),
        of_page("nothing can connect to 127.0.0.1", "ip link set lo up"),
        of_page("which is this host's or this user's name", "--no-secret"),
    ]
}

// Axes

fn axes() -> Vec<Case> {
    const KIND: &str = "No axis is without a number";
    let ranges =
        [(8.7, 9.3), (7.6, 9.1), (870.0, 940.0), (8.2, 8.9), (6.1, 6.25), (1.0, 1.001), (99.0, 101.0), (2.0, 2.1)];
    let chart = |(low, high): (f64, f64)| {
        case(
            KIND,
            format!("a chart of numbers from {low} to {high} µs"),
            "its axis has two ticks or more within",
            move || {
                let fake = Fake::with_plan(super::PLAN);
                let published = fake.read("data/published/elsewhere.toml");
                fake.write("data/published/elsewhere.toml", &published.replacen("beside = ", "# ", 1));
                for (program, us) in [("fast", low), ("slow", high)] {
                    fake.program(program, &observation(program, (us * 1000.0).round() as u64));
                }
                succeed(fake.measure(&[]));
                for (name, text) in CHARTS {
                    fake.write(&format!("book/charts/{name}"), text);
                }
                fake.print(&["chart", "pair", "dots", "--caption", "{slow[free]}", "--form", "page"]);
                let drawn: Value =
                    serde_json::from_str(&fake.read("book/src/generated/local/chapter/pair-dots.vl.json")).unwrap();
                let ticks = ticks(&drawn);
                // Rows are in the unit of the axis, and so are ticks.
                let within = ticks.iter().filter(|tick| (low * 0.97..=high * 1.03).contains(*tick)).count();
                unless(within < 2, format!("{ticks:?}"), format!("{ticks:?}"))
            },
        )
    };
    ranges.map(chart).into()
}

const CHARTS: [(&str, &str); 3] = [
    ("config.json", include_str!("../../../../book/charts/config.json")),
    ("dots.vl.json", include_str!("../../../../book/charts/dots.vl.json")),
    ("dots-narrow.patch.json", include_str!("../../../../book/charts/dots-narrow.patch.json")),
];

/// Where the axis of a chart's numbers has its ticks.
fn ticks(chart: &Value) -> Vec<f64> {
    match chart {
        Value::Object(own) if own.get("scale").is_some_and(|scale| scale["type"] == "log") => {
            own["axis"]["values"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
        }
        Value::Object(own) => own.values().map(ticks).find(|ticks| !ticks.is_empty()).unwrap_or_default(),
        Value::Array(items) => items.iter().map(ticks).find(|ticks| !ticks.is_empty()).unwrap_or_default(),
        _ => Vec::new(),
    }
}
