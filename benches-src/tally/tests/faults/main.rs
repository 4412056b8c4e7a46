//! A campaign of faults: what was done, what was expected, what was seen. `ci/faults` runs it;
//! words after that name the cases to run.
//!
//! Each case is the representative of a kind of fault that once did harm: a measurement lost or
//! shown as another, a stranger's text that became a command, a path of somebody's machine on a
//! page, a process left behind.

#![expect(clippy::print_stdout, reason = "its table is what it is for")]
#![expect(clippy::zombie_processes, reason = "a case that fails has found what it looks for, and ends there")]

mod field;
mod gate;
mod lacking;
#[path = "../support/mod.rs"]
mod support;
mod taken;
mod without;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::panic;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Value, json};
use support::{Fake, PLAN, book, observation, of_another_cpu, preprocess, summed};
use tally::record::compression::pack;

/// What was seen, or what was seen instead of what was expected.
type Seen = Result<String, String>;

struct Case {
    kind: &'static str,
    done: String,
    expected: &'static str,
    run: Box<dyn Fn() -> Seen + Sync>,
}

/// What a case says where this machine or this user cannot do to it what it is about.
const SKIPPED: &str = "skipped, since ";

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |case: &Case| {
        wanted.is_empty() || wanted.iter().any(|word| format!("{} {}", case.kind, case.done).contains(word))
    };
    // What a case panics with is what was seen, and stands in its row.
    panic::set_hook(Box::new(|_| {}));
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut kind = "";
    let all = cases();
    let wanted: Vec<&Case> = all.iter().filter(|case| is_wanted(case)).collect();
    for (case, outcome) in wanted.chunk_by(|one, other| one.kind == other.kind).flat_map(outcomes) {
        if case.kind != kind {
            kind = case.kind;
            println!("\n{kind}");
        }
        let (mark, seen) = match &outcome {
            Ok(seen) | Err(seen) if seen.starts_with(SKIPPED) => ("–", seen),
            Ok(seen) => ("ok", seen),
            Err(seen) => ("FAILED", seen),
        };
        match mark {
            "ok" => passed += 1,
            "–" => skipped += 1,
            _ => failed += 1,
        }
        println!(
            "  {mark:6} done: {}\n         expected: {}\n         seen: {}",
            case.done,
            case.expected,
            shortened(seen)
        );
    }
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    ExitCode::from(u8::from(failed > 0))
}

/// What came of cases of one kind: of those that wait for nobody and look at nothing that others
/// have as well, side by side.
fn outcomes<'a>(cases: &[&'a Case]) -> Vec<(&'a Case, Seen)> {
    let outcome = |case: &Case| {
        panic::catch_unwind(panic::AssertUnwindSafe(|| (case.run)())).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().cloned();
            Err(said.or(panic.downcast_ref::<&str>().map(|said| (*said).to_owned())).unwrap_or_default())
        })
    };
    let are_apart = cases.iter().all(|case| case.kind == taken::KIND);
    let workers = if are_apart { thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let own = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(own) else { return };
                    let outcome = outcome(case);
                    seen.lock().unwrap().insert(own, outcome);
                }
            });
        }
    });
    cases.iter().copied().zip(seen.into_inner().unwrap().into_values()).collect()
}

/// A row has room for some words; what went wrong is shown whole.
fn shortened(seen: &str) -> String {
    let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 300 { line } else { line.chars().take(300).chain(['…']).collect() }
}

fn case(
    kind: &'static str,
    done: impl Into<String>,
    expected: &'static str,
    run: impl Fn() -> Seen + Sync + 'static,
) -> Case {
    Case { kind, done: done.into(), expected, run: Box::new(run) }
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(losses());
    all.extend(sessions());
    all.extend(contradictions());
    all.extend(copies());
    all.extend(readings());
    all.extend(revisions());
    all.extend(names());
    all.extend(directives());
    all.extend(private());
    all.extend(leftovers());
    all.extend(machines_without());
    all.extend(workplaces());
    all.extend(surroundings());
    all.extend(gate::cases());
    all.extend(field::cases());
    all.extend(field::missing());
    all.extend(taken::cases());
    all
}

// What is seen

/// Output and status of a command, in a row.
struct Said {
    ok: bool,
    text: String,
}

fn said(mut command: Command) -> Said {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Said { ok: status.success(), text }
}

/// All of these words, or what there was instead.
fn has(text: &str, words: &[&str]) -> Seen {
    match words.iter().find(|word| !text.contains(**word)) {
        None => Ok(words.join(" … ")),
        Some(word) => Err(format!("{word:?} is not in: {text}")),
    }
}

/// A failure with these words, and no panic.
fn refused(command: Command, words: &[&str]) -> Seen {
    let Said { ok, text } = said(command);
    if ok || text.contains("panicked at") {
        return Err(text);
    }
    has(&text, words)
}

fn unless(wrong: bool, instead: impl Into<String>, seen: impl Into<String>) -> Seen {
    if wrong { Err(instead.into()) } else { Ok(seen.into()) }
}

fn measured() -> Fake {
    let fake = Fake::new();
    support::succeed(fake.measure(&[]));
    fake
}

const RECORD: &str = "data/local/chapter/pair.jsonl";

/// What a page shows of a record that was changed so.
fn page_of(fake: &Fake, record: &str) -> String {
    fake.change_record(record);
    fake.print(&["table", "pair", "--form", "page"])
}

/// The numbers of a page: what must not stand there when its record is refused.
fn shows_numbers(page: &str) -> bool {
    page.contains("2.00") || page.contains("1.00")
}

// Measured data is lost or wrong

fn losses() -> Vec<Case> {
    const KIND: &str = "Measured data is lost";
    let killed = "kill -KILL $$";
    vec![
        case(
            KIND,
            "every process of a session fails, over a good record",
            "the record stays, the session lies beside it, a status",
            move || {
                let fake = measured();
                let good = fake.record();
                fake.program("slow", "exit 7");
                fake.program("fast", "exit 7");
                let seen = refused(
                    fake.measure(&["--again"]),
                    &["18 of 18 processes failed: exit status 7 (18)", "stays, since"],
                )?;
                let aside = fake.read(&format!("{RECORD}.failed"));
                unless(fake.record() != good || !aside.contains("exit status 7"), "the record was replaced", seen)
            },
        ),
        case(KIND, "one of two programs fails, over a good record", "the same", move || {
            let fake = measured();
            let good = fake.record();
            fake.program("slow", "echo 'no more room' >&2; exit 7");
            let seen =
                refused(fake.measure(&["--again"]), &["every process of slow[size=3, free] failed", "no more room"])?;
            unless(fake.record() != good, "the record was replaced", seen)
        }),
        case(
            KIND,
            "every process fails, and there was no record",
            "it is not fresh: measured again, called failed, not exported",
            move || {
                let fake = Fake::new();
                let works = fs::read_to_string(fake.path("programs/slow")).unwrap();
                for program in ["slow", "fast"] {
                    fake.program(program, "echo 'no inodes' >&2; exit 1");
                }
                refused(fake.measure(&[]), &["18 of 18 processes failed", "no inodes"])?;
                has(&fake.print(&["list"]), &["failed"])?;
                refused(fake.tally(&["export", "a-machine"]), &["every process of", "failed"])?;
                fake.raw_program("slow", works.trim_start_matches("#!/bin/sh\n"));
                let again = said(fake.measure(&[])).text;
                has(&again, &["measuring chapter/pair"])
            },
        ),
        case(KIND, "a quick session takes the place of a full one", "the full one is kept beside it", || {
            let fake = Fake::new();
            support::succeed(fake.measure(&["--effort", "full"]));
            support::succeed(fake.measure(&["--again"]));
            has(&fake.read(&format!("{RECORD}.session")), &["\"effort\":\"full\""])
        }),
        case(
            KIND,
            "some processes of a cell are killed by a signal",
            "how many and of what, beside number, row and claim",
            move || {
                let fake = Fake::new();
                let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n";
                // Both arms of the A/A pair in two of the rounds, in whatever order they run.
                let two_rounds = "[ $((n / 2 % 3)) = 1 ]";
                fake.program(
                    "slow",
                    &format!("{count}; if {two_rounds}; then {killed}; fi; {}", observation("slow", 2000)),
                );
                refused(fake.measure(&[]), &["processes failed: ended by signal 9"])?;
                let value = fake.print(&["value", "slow[free]"]);
                has(&value, &["2.00 µs", "processes failed: ended by signal 9"])?;
                has(&fake.print(&["value", "slow[free]", "--form", "page"]), &["failed</a>", "ended by signal 9"])?;
                has(
                    &fake.print(&["table", "pair", "--form", "page"]),
                    &["of 6 failed</span>", "Doubt: slow", "ended by signal 9"],
                )?;
                has(&fake.print(&["claim", "T1"]), &["processes failed"])?;
                has(&fake.print(&["claim", "--form", "page"]), &["failed</a>"])?;
                has(&fake.print(&["value", "slow[free]", "--json"]), &["\"failed\":"])?;
                Ok(value)
            },
        ),
        case(KIND, "the same, then all is well", "measured again, and nothing is said of deaths any more", move || {
            let fake = Fake::new();
            let works = observation("slow", 2000);
            fake.program("slow", &format!("if [ -e ok ]; then {works}; else {killed}; fi"));
            refused(fake.measure(&[]), &["failed"])?;
            fake.write("ok", "");
            support::succeed(fake.measure(&[]));
            let value = fake.print(&["value", "slow[free]"]);
            unless(value.contains("failed") || !value.contains("2.00 µs"), value.clone(), value)
        }),
        case(KIND, "a tool that counts is installed after a session without it", "it is noticed, and measured", || {
            let plan = PLAN
                .replace(
                    "headline = \"slow[free] / fast[free]\"\ntwins = [\"slow[free]\"]\n",
                    "count = \"system-calls\"\n",
                )
                .split("=== claims")
                .next()
                .unwrap()
                .to_owned();
            let fake = Fake::with_plan(&plan);
            fs::create_dir(fake.path("tools")).unwrap();
            let measure = || {
                let mut command = fake.measure(&[]);
                command.env("PATH", fake.path("tools"));
                command
            };
            support::succeed(measure());
            has(&fake.print(&["value", "slow[free].calls"]), &["strace is not installed"])?;
            fake.script("tools/strace", "exit 1");
            has(&said(measure()).text, &["measuring chapter/pair"])
        }),
    ]
}

// Sessions that meet, stop, or go on

fn sessions() -> Vec<Case> {
    const KIND: &str = "Sessions that meet, stand still, or go on";
    let slowly = format!("sleep 0.1; {}", observation("slow", 2000));
    let meet = |done: &'static str, words: &'static str, variable: &'static str| {
        let slowly = slowly.clone();
        case(KIND, done, "the second waits, and no line of the record is broken", move || {
            let fake = Fake::new();
            fake.program("slow", &slowly);
            fs::create_dir(fake.path("other")).unwrap();
            let mut first = fake.measure(&[]).stderr(Stdio::null()).spawn().unwrap();
            wait_until(|| fake.path(&format!("{RECORD}.partial")).exists())?;
            let mut second = fake.measure(&["--again"]);
            second.env(variable, fake.path("other"));
            let second = said(second);
            first.wait().unwrap();
            let lines: Vec<Value> = fake.record().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let seen = has(&second.text, &[words])?;
            unless(!second.ok || lines.len() != 20, format!("{} lines; {}", lines.len(), second.text), seen)
        })
    };
    vec![
        meet("two sessions at once, whose TMPDIR differs", "something else is measuring on this machine", "TMPDIR"),
        meet(
            "two sessions at once in one checkout, on two machines or in two containers",
            "something else is measuring in this checkout",
            "TALLY_TEST_LOCK",
        ),
        case(KIND, "another user measures on this machine at the same time", "the second waits for the first", || {
            let fake = Fake::new();
            // The real lock, since that of tests is a folder of theirs.
            let tally = env!("CARGO_BIN_EXE_tally");
            let held = fs::File::open("/").unwrap();
            let Ok(()) = held.try_lock() else { return Ok(format!("{SKIPPED}something measures here now")) };
            let everybody = fs::Permissions::from_mode(0o777);
            fs::set_permissions(fake.root(), everybody).unwrap();
            support::succeed({
                let mut chown = Command::new("chmod");
                chown.args(["-R", "a+rwX"]).arg(fake.root());
                chown
            });
            let nobody = |arguments: &[&str]| {
                let mut command = Command::new(tally);
                command.args(arguments).current_dir(fake.root()).uid(65534).env("HOME", "/nonexistent");
                command
            };
            match nobody(&["--version"]).output() {
                Ok(output) if output.status.success() => {}
                _ => return Ok(format!("{SKIPPED}this user cannot become another, or another cannot start tally")),
            }
            let mut second = nobody(&["measure", "--programs", "programs"]).stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(Duration::from_millis(500));
            let waited = second.try_wait().unwrap().is_none();
            drop(held);
            let output = second.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let seen = has(&text, &["something else is measuring on this machine", "6 rounds"])?;
            unless(!waited || !output.status.success(), text, seen)
        }),
        case(
            KIND,
            "killed, and gone on with after the machine was started anew",
            "the rounds of two starts are not joined",
            {
                let slowly = slowly.clone();
                move || {
                    let fake = interrupted(&slowly)?;
                    let partial = fake.read(&format!("{RECORD}.partial"));
                    let boot = partial
                        .split("\"boot\":\"")
                        .nth(1)
                        .and_then(|rest| rest.split('"').next())
                        .ok_or("no boot in the header")?;
                    fake.write(&format!("{RECORD}.partial"), &summed(&partial.replacen(boot, "0123456789abcdef", 1)));
                    let text = said(fake.measure(&[])).text;
                    let seen = has(&text, &["the machine was started anew since", "put aside"])?;
                    unless(fake.record().contains("0123456789abcdef"), fake.record(), seen)
                }
            },
        ),
        case(KIND, "killed, and gone on with", "pages say so, with both times and loads", {
            let slowly = slowly.clone();
            move || {
                let fake = interrupted(&slowly)?;
                support::succeed(fake.measure(&[]));
                let page = fake.print(&["table", "pair", "--form", "page"]);
                has(&page, &["interrupted, and gone on with once at 20", "load average", "not of one piece"])
            }
        }),
        case(KIND, "killed, and gone on with on the next day", "the record is of both days", {
            let slowly = slowly.clone();
            move || {
                let fake = interrupted(&slowly)?;
                let partial = fake.read(&format!("{RECORD}.partial"));
                let day = partial
                    .split("\"time\":\"")
                    .nth(1)
                    .and_then(|rest| rest.get(..10))
                    .ok_or("no time in the header")?
                    .to_owned();
                fake.write(&format!("{RECORD}.partial"), &summed(&partial.replacen(&day, "2026-11-01", 1)));
                support::succeed(fake.measure(&[]));
                has(&fake.print(&["list"]), &[&format!("2026-11-01 to {day}")])
            }
        }),
        case(KIND, "a process is stopped for three seconds", "a doubt stands under its table", || {
            let fake = Fake::with_plan(&PLAN.replacen("limit_seconds = 2", "limit_seconds = 20", 1));
            let count = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n";
            let stop = "(sleep 3; kill -CONT $$) & kill -STOP $$";
            fake.program("slow", &format!("{count}; if [ $n = 5 ]; then {stop}; fi; {}", observation("slow", 2000)));
            support::succeed(fake.measure(&[]));
            has(&fake.print(&["table", "pair", "--form", "page"]), &["stood still for seconds", "1 of 18"])
        }),
        case(
            KIND,
            "a terminal is closed while measuring (SIGHUP)",
            "what was measured is kept, and nothing is left running",
            {
                let slowly = slowly.clone();
                move || {
                    let fake = Fake::new();
                    fake.program("slow", &slowly);
                    let tally = fake.measure(&[]).stderr(Stdio::piped()).spawn().unwrap();
                    wait_until(|| lines(&fake.path(&format!("{RECORD}.partial"))) > 3)?;
                    signal("HUP", tally.id());
                    let output = tally.wait_with_output().unwrap();
                    has(&String::from_utf8_lossy(&output.stderr), &["interrupted; what was measured so far is kept"])
                }
            },
        ),
        case(
            KIND,
            "the wall clock is put back by a day while a session runs",
            "it is the record, and a doubt says so",
            || {
                let fake = measured();
                let (before, end) =
                    fake.record().rsplit_once("\"time\":\"").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
                let began = before.split("\"time\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
                let began: jiff::Timestamp = began.parse().unwrap();
                for (time, how) in [
                    ((began - jiff::SignedDuration::from_hours(24)).to_string(), "back"),
                    ("1970-01-01T00:00:09Z".to_owned(), "back"),
                    ("2099-01-01T00:00:00Z".to_owned(), "forward"),
                ] {
                    let (_, rest) = end.split_once('"').unwrap();
                    let page = page_of(&fake, &format!("{before}\"time\":\"{time}\"{rest}"));
                    has(
                        &page,
                        &["2.00", "Doubt: the machine", &format!("clock was put {how} while the session ran"), &time],
                    )?;
                    has(&fake.print(&["list"]), &["fresh"])?;
                }
                support::succeed(fake.tally(&["export", "a-machine"]));
                has(
                    &fake.print(&["table", "pair", "--form", "page", "--machine", "a-machine"]),
                    &["clock was put forward"],
                )
            },
        ),
        case(KIND, "tally loses a CPU while it waits for another session", "the record says what it has then", || {
            let fake = Fake::new();
            let held = fs::File::open(fake.root()).unwrap();
            held.lock().unwrap();
            let mut tally = fake.measure(&[]).stderr(Stdio::piped()).spawn().unwrap();
            let stderr = &mut tally.stderr.take().unwrap();
            let mut line = String::new();
            BufRead::read_line(&mut BufReader::new(&mut *stderr), &mut line).unwrap();
            has(&line, &["something else is measuring on this machine"])?;
            let cpu = confine(tally.id());
            drop(held);
            std::io::copy(stderr, &mut std::io::sink()).unwrap();
            unless(!tally.wait().unwrap().success(), "it failed", "")?;
            let header = fake.record().lines().next().unwrap().to_owned();
            let seen = has(&header, &[&format!("\"CPUs allowed\":\"{cpu}\"")])?;
            let page = fake.print(&["table", "pair", "--form", "page"]);
            unless(page.contains("set otherwise"), page, seen)
        }),
        case(KIND, "tally loses a CPU while a session runs", "a doubt on its pages names it", || {
            if thread::available_parallelism().map_or(1, usize::from) < 2 {
                return Ok(format!("{SKIPPED}this machine has one CPU"));
            }
            let fake = Fake::new();
            fake.program("slow", &format!("sleep 0.1; {}", observation("slow", 2000)));
            let mut tally = fake.measure(&[]).stderr(Stdio::null()).spawn().unwrap();
            wait_until(|| lines(&fake.path(&format!("{RECORD}.partial"))) > 3)?;
            let cpu = confine(tally.id());
            unless(!tally.wait().unwrap().success(), "it failed", "")?;
            has(
                &fake.print(&["table", "pair", "--form", "page"]),
                &["set otherwise while the session ran: CPUs allowed (from ", &format!(" to {cpu})")],
            )
        }),
        case(KIND, "a record of a machine whose clock was never set", "refused, with the line", || {
            let fake = measured();
            let past = fake.record().replacen("\"time\":\"20", "\"time\":\"19", 1);
            has(&page_of(&fake, &past), &["unreadable", "line 1", "it says that it was measured on 19"])
        }),
        case(KIND, "a line is taken out of a whole record", "a doubt says that a round lacks a process", || {
            let fake = measured();
            let record = fake.record();
            let without = |line: &&str| !line.contains("\"round\":2,\"cell\":1");
            let fewer: String = record.lines().filter(without).map(|line| line.to_owned() + "\n").collect();
            unless(fewer == record, "no line was taken out".to_owned(), String::new())?;
            fake.write(RECORD, &fewer);
            let page = fake.print(&["table", "pair", "--form", "page"]);
            has(&page, &["rounds lack a process, and no interruption is noted: 1 of 6, which are left out"])
        }),
    ]
}

fn wait_until(is_so: impl Fn() -> bool) -> Result<(), String> {
    let started = Instant::now();
    while !is_so() {
        if started.elapsed() > Duration::from_secs(20) {
            return Err("nothing happened for 20 seconds".to_owned());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

fn signal(name: &str, process: u32) {
    Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap();
}

/// Leaves a process one CPU of those that it may use, and says which.
fn confine(process: u32) -> usize {
    let own = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|cpu| own.is_set(*cpu)).unwrap();
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(Pid::from_raw(process.try_into().unwrap()), &one).unwrap();
    first
}

/// A project whose session was killed in its second round.
fn interrupted(slowly: &str) -> Result<Fake, String> {
    let fake = Fake::new();
    fake.program("slow", slowly);
    let mut tally = fake.measure(&[]).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| lines(&fake.path(&format!("{RECORD}.partial"))) > 5)?;
    tally.kill().unwrap();
    tally.wait().unwrap();
    Ok(fake)
}

// A record that contradicts itself

fn contradictions() -> Vec<Case> {
    const KIND: &str = "A record that contradicts itself is refused, with the line";
    let changed = |done: &'static str, from: &'static str, to: &'static str, words: &'static [&'static str]| {
        case(KIND, done, "no number of it on a page, but the line and the reason", move || {
            let fake = measured();
            let good = fake.record();
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from} is not in the record");
            let page = page_of(&fake, &bad);
            let seen = has(&page, &[&["unreadable", "pair.jsonl, line "], words].concat())?;
            let claim = fake.print(&["claim", "T1"]);
            unless(shows_numbers(&page) || claim.contains("holds"), page, seen)
        })
    };
    vec![
        changed(
            "a header of another chapter",
            "\"chapter\":\"chapter\"",
            "\"chapter\":\"memory\"",
            &["line 1", "memory/pair"],
        ),
        changed(
            "a header of another experiment",
            "\"experiment\":\"pair\"",
            "\"experiment\":\"other\"",
            &["line 1", "chapter/other"],
        ),
        changed(
            "an observation of another program than its cell",
            "\"program\":\"chapter/slow\"",
            "\"program\":\"chapter/fast\"",
            &["stands for slow"],
        ),
        changed(
            "an observation of another placement",
            "\"placement\":\"free\",\"samples\"",
            "\"placement\":\"one-cpu\",\"samples\"",
            &["stands for"],
        ),
        changed(
            "an observation with another parameter",
            "\"parameters\":{\"size\":3},\"placement\":\"free\",\"samples\"",
            "\"parameters\":{\"size\":4},\"placement\":\"free\",\"samples\"",
            &["stands for"],
        ),
        changed(
            "a CPU whose name moves a terminal's cursor",
            "\"CPU\":\"",
            "\"CPU\":\"\\u001b[2J",
            &["line 1", "a control character"],
        ),
        changed(
            "a doubt that rings a terminal's bell",
            "\"doubts\":[\"",
            "\"doubts\":[\"\\u0007",
            &["a control character"],
        ),
        changed("a date of 2099", "\"time\":\"2026", "\"time\":\"2099", &["line 1", "2099"]),
        changed("no date", "\"time\":\"2026", "\"time\":\"2026-no-", &["line 1", "no date with a time"]),
        changed(
            "an operation that cost nothing",
            "\"elapsed_ns\":[2000000",
            "\"elapsed_ns\":[0",
            &["without any operation or time"],
        ),
        changed("no operation at all", "\"operations\":[1000", "\"operations\":[0", &["without any operation or time"]),
        changed(
            "a time of u64::MAX",
            "\"elapsed_ns\":[2000000",
            "\"elapsed_ns\":[18446744073709551615",
            &["longer than a day"],
        ),
        changed(
            "a count of u64::MAX",
            "\"user_ns\":[10",
            "\"user_ns\":[18446744073709551615",
            &["in one window, which nothing can have counted"],
        ),
        changed(
            "operations of u64::MAX",
            "\"operations\":[1000",
            "\"operations\":[18446744073709551615",
            &["operations"],
        ),
        changed(
            "a negative time",
            "\"measures\":{}",
            "\"measures\":{\"rate_ns\":{\"unit\":\"ns\",\"values\":[-5.0]}}",
            &["below 0"],
        ),
        changed(
            "a ledger with counts missing",
            "\"measures\":{}",
            "\"measures\":{\"held\":{\"unit\":\"1\",\"values\":[1.0,2.0,3.0]},\"heap_bytes\":{\"unit\":\"B\",\"values\":[1.0,2.0]}}",
            &["2 values for 3 counts"],
        ),
        changed("a round that no session comes to", "\"round\":1,", "\"round\":4294967295,", &["round 4294967295"]),
        changed("a round that is there twice", "\"round\":1,\"cell\":0", "\"round\":0,\"cell\":0", &["a second run"]),
        changed(
            "a column that is shorter than the others",
            "\"elapsed_ns\":[2000000,2000000]",
            "\"elapsed_ns\":[2000000]",
            &["samples have operations"],
        ),
    ]
}

// A session that is another's, or beside which something lies

fn copies() -> Vec<Case> {
    const KIND: &str = "No session counts twice, and nothing beside a bundle speaks for it";
    let contributed = || {
        let fake = measured();
        fake.write("book/src/claims.md", "<!-- cmdrun tally claim T1 -->\n<!-- cmdrun tally table pair -->\n");
        fake.contribute("a-machine", &fake.record());
        fake
    };
    let bundle = |fake: &Fake, machine: &str| {
        let sessions = fs::read_dir(fake.path(&format!("data/machines/{machine}/sessions"))).unwrap();
        sessions.flatten().next().unwrap().path()
    };
    vec![
        case(
            KIND,
            "another machine's bundle is imported under a new name",
            "refused, with the path of the other",
            move || {
                let fake = contributed();
                fs::copy(bundle(&fake, "a-machine"), fake.path("b-machine.bundle.zst")).unwrap();
                let words = ["b-machine.bundle.zst: pair, begun at", "data/machines/a-machine/sessions/", "already"];
                let seen = refused(fake.tally(&["import", "b-machine.bundle.zst"]), &words)?;
                unless(fake.path("data/machines/b-machine").exists(), "something was written", seen)
            },
        ),
        case(KIND, "a machine's folder is copied under a new name", "check refuses it, with both paths", move || {
            let fake = contributed();
            let mut copy = Command::new("cp");
            copy.arg("-r").args(["a-machine", "b-machine"].map(|name| fake.path(&format!("data/machines/{name}"))));
            support::succeed(copy);
            refused(fake.tally(&["check"]), &["machines/b-machine/sessions/", "stands in data/machines/a-machine/"])
        }),
        case(KIND, "a record stands twice in a bundle", "import refuses it before it writes", || {
            let fake = measured();
            let twice = pack(fake.record().repeat(2).as_bytes()).unwrap();
            fs::write(fake.path("a-machine.bundle.zst"), twice).unwrap();
            let seen = refused(fake.tally(&["import", "a-machine.bundle.zst"]), &["pair, begun at", "twice"])?;
            unless(fake.path("data/machines/a-machine").exists(), "something was written", seen)
        }),
        case(
            KIND,
            "a digest with other numbers lies beside a bundle",
            "numbers are the bundle's, and check names it",
            move || {
                let fake = contributed();
                let path = bundle(&fake, "a-machine").to_string_lossy().replace(".bundle.", ".digest.");
                fs::write(path, pack(b"{\"digest\":{}}\n").unwrap()).unwrap();
                has(&fake.print(&["value", "slow[free] / fast[free]", "--machine", "a-machine"]), &["2.00"])?;
                refused(fake.tally(&["check"]), &[".digest.zst: its name is no session's", "remove it"])
            },
        ),
    ]
}

// Reading runs away

fn readings() -> Vec<Case> {
    const KIND: &str = "Reading has bounds";
    let deep = |brackets: usize| format!("{}fast[free]{}", "(".repeat(brackets), ")".repeat(brackets));
    vec![
        case(KIND, "a record that is a link to /dev/zero", "refused at once", || {
            let fake = measured();
            fs::remove_file(fake.path(RECORD)).unwrap();
            symlink("/dev/zero", fake.path(RECORD)).unwrap();
            has(&fake.print(&["value", "slow[free]"]), &["unreadable", "is no file"])
        }),
        case(KIND, "a record that is a pipe nobody writes to", "refused at once", || {
            let fake = measured();
            fs::remove_file(fake.path(RECORD)).unwrap();
            Command::new("mkfifo").arg(fake.path(RECORD)).status().unwrap();
            has(&fake.print(&["value", "slow[free]"]), &["unreadable", "is no file"])
        }),
        case(KIND, "a record of a gigabyte", "refused by its length", || {
            let fake = measured();
            fs::File::options().write(true).open(fake.path(RECORD)).unwrap().set_len(1 << 30).unwrap();
            has(&fake.print(&["value", "slow[free]"]), &["unreadable", "64 MiB"])
        }),
        case(KIND, "an expression nested 20,000 deep", "an error, and no stack overflow", move || {
            let fake = Fake::new();
            refused(fake.tally(&["value", &deep(20_000)]), &["parts; at most 200"])
        }),
        case(KIND, "an expression of 20,000 summands", "an error, and no stack overflow", || {
            let fake = Fake::new();
            let long = ["fast[free]"; 10_000].join(" + ");
            refused(fake.tally(&["value", &long]), &["parts; at most 200"])
        }),
        case(
            KIND,
            "60 machines with a megabyte each that cannot be packed, and 400 MB of memory (claim --machines)",
            "both end well",
            || {
                let fake = measured();
                let record = of_another_cpu(&fake.record());
                let mut lines: Vec<&str> = record.lines().collect();
                let (end, runs) = (lines.pop().unwrap(), lines.split_off(1));
                let mut long = lines[0].to_owned() + "\n";
                for round in 0..100 {
                    for (cell, run) in runs.iter().take(3).enumerate() {
                        let mut run: Value = serde_json::from_str(run).unwrap();
                        let cells = serde_json::from_str::<Value>(lines[0]).unwrap()["header"]["cells"].clone();
                        run["run"]["round"] = round.into();
                        run["run"]["cell"] = cell.into();
                        let program = cells[cell]["program"].as_str().unwrap();
                        run["run"]["observation"]["program"] = format!("chapter/{program}").into();
                        run["run"]["observation"]["doubts"] =
                            json!([noise(round, cell, 1900), noise(cell, round, 1900)]);
                        long += &(run.to_string() + "\n");
                    }
                }
                fake.contribute("m-0", &(long + end + "\n"));
                let files = ["machine.toml".to_owned()].into_iter();
                let sessions = fs::read_dir(fake.path("data/machines/m-0/sessions")).unwrap().flatten();
                let sessions = sessions.map(|file| format!("sessions/{}", file.file_name().to_string_lossy()));
                let files: Vec<String> = files.chain(sessions).collect();
                let place = |machine: u32, file: &str| fake.path(&format!("data/machines/m-{machine}/{file}"));
                for machine in 1..60 {
                    fs::create_dir_all(place(machine, "sessions")).unwrap();
                    for file in &files {
                        fs::hard_link(place(0, file), place(machine, file)).unwrap();
                    }
                }
                let bytes: u64 = files.iter().map(|file| fs::metadata(place(0, file)).unwrap().len()).sum();
                let mut claims = Command::new("sh");
                claims
                    .args(["-c", &format!("ulimit -v 400000; exec {} claim --machines", env!("CARGO_BIN_EXE_tally"))]);
                let Said { ok, text } = said({
                    claims.current_dir(fake.root());
                    claims
                });
                unless(!ok || !text.contains("m-59"), text, format!("60 records of {bytes} bytes"))
            },
        ),
    ]
}

/// Letters that no packer finds likeness in.
fn noise(one: usize, other: usize, letters: usize) -> String {
    let mut state = (one * 1009 + other) as u64 + 1;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 59) as u8 % 26)
    };
    (0..letters).map(letter).collect()
}

// Whose revision

fn revisions() -> Vec<Case> {
    const KIND: &str = "The revision is this checkout's, or none";
    let git = |folder: &Path, arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments).current_dir(folder);
        assert!(git.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success(), "git {arguments:?}");
    };
    let repository = move |folder: &Path| {
        git(folder, &["init", "-q"]);
        git(folder, &["commit", "-q", "--allow-empty", "-m", "x"]);
    };
    let revision = |fake: &Fake| {
        let header: Value = serde_json::from_str(fake.record().lines().next().unwrap()).unwrap();
        header["header"]["revision"].clone()
    };
    vec![
        case(KIND, "an archive unpacked inside another repository", "no revision", move || {
            let outer = tempfile::tempdir().unwrap();
            repository(outer.path());
            let fake = Fake::inside(outer.path());
            support::succeed(fake.measure(&[]));
            unless(!revision(&fake).is_null(), revision(&fake).to_string(), "none")
        }),
        case(KIND, "the same, and the archive says of which revision it is", "that one", move || {
            let outer = tempfile::tempdir().unwrap();
            repository(outer.path());
            let fake = Fake::inside(outer.path());
            fake.write(".revision", "0123456789abcdef0123456789abcdef01234567\n");
            support::succeed(fake.measure(&[]));
            unless(revision(&fake) != "0123456789ab", revision(&fake).to_string(), "0123456789ab")
        }),
        case(KIND, "GIT_DIR names another repository", "no revision", move || {
            let other = tempfile::tempdir().unwrap();
            repository(other.path());
            let fake = Fake::new();
            let mut measure = fake.measure(&[]);
            support::succeed({
                measure.env("GIT_DIR", other.path().join(".git"));
                measure
            });
            unless(!revision(&fake).is_null(), revision(&fake).to_string(), "none")
        }),
        case(KIND, "a checkout of one's own", "its revision", move || {
            let fake = Fake::new();
            repository(fake.root());
            support::succeed(fake.measure(&[]));
            let own = revision(&fake);
            unless(own.as_str().is_none_or(|own| own.len() != 12), own.to_string(), own.to_string())
        }),
        case(
            KIND,
            "a checkout that git refuses, since it is another user's",
            "none, and the reason with its cure",
            move || {
                let fake = Fake::new();
                repository(fake.root());
                if std::os::unix::fs::chown(fake.path(".git"), Some(65534), Some(65534)).is_err()
                    || std::os::unix::fs::chown(fake.root(), Some(65534), Some(65534)).is_err()
                {
                    return Ok(format!("{SKIPPED}this user cannot give files away"));
                }
                let mut measure = fake.measure(&[]);
                measure.env("HOME", fake.path("nowhere"));
                let Said { ok, text } = said(measure);
                let seen = has(&text, &["the records will say no revision", "safe.directory"])?;
                unless(!ok || !revision(&fake).is_null(), text, seen)
            },
        ),
    ]
}

// Names and text of strangers

fn names() -> Vec<Case> {
    const KIND: &str = "A stranger's name or text becomes no command, markup or gap";
    let folder = |name: &'static str| {
        case(
            KIND,
            format!("a folder {name:?} below data/machines"),
            "refused by list, check and build alike",
            move || {
                let fake = measured();
                fake.write(&format!("data/machines/{name}/.keep"), "");
                let named = format!("--machine={name}");
                for command in [&["list", "--machines"][..], &["check"], &["claim", "--machines"], &["list", &named]] {
                    refused(fake.tally(command), &["is no name for a machine"])?;
                }
                let output =
                    preprocess(&fake, "cmdrun", json!({ "show": name }), "<!-- cmdrun tally list --machines -->\n");
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                let seen = has(&text, &["is no name for a machine"])?;
                unless(
                    output.status.success() || fake.path("pwned").exists() || fake.path("book/src/pwned").exists(),
                    text,
                    seen,
                )
            },
        )
    };
    let mut cases: Vec<Case> = [
        "z<!-- cmdrun touch pwned -->",
        "x\" onmouseover=\"alert(1)",
        "y{{#include book.toml}}",
        "a b",
        "Upper",
        "-leading",
        "local",
    ]
    .map(folder)
    .into();
    cases.push(case(KIND, "data/machines/reference links out of its folder", "no machine", || {
        let fake = measured();
        symlink("../../data", fake.path("data/machines/reference")).unwrap();
        refused(fake.tally(&["list", "--machine", "reference"]), &["links to no machine beside it"])
    }));
    cases.push(case(KIND, "a program that fails writes in colours", "its record has none, and is read", || {
        let fake = Fake::new();
        fake.program("slow", "printf '\\033[31mred\\033[0m\\n' >&2; exit 3");
        support::fail(fake.measure(&[]));
        let page = fake.print(&["table", "pair", "--form", "page"]);
        let record = fake.record();
        unless(record.contains("u001b") || !record.contains("[31mred"), record, "")?;
        has(&page, &["exit status 3"])
    }));
    cases.push(case(KIND, "a program that says in colours who it is", "its record is kept, without them", || {
        let fake = Fake::new();
        let seen = observation("slow", 2000).replace("chapter/slow", "chapter/\\u001b[31mslow");
        fake.program("slow", &seen);
        support::fail(fake.measure(&[]));
        unless(fake.record().contains("u001b"), fake.record(), "")?;
        has(&fake.print(&["table", "pair", "--form", "page"]), &["it reported on"])
    }));
    cases.push(case(KIND, "an experiment that is named like markup", "refused with its plan", || {
        let fake = Fake::with_plan(&PLAN.replacen("experiments/pair.toml", "experiments/a\"><b>.toml", 1));
        refused(fake.tally(&["list"]), &["experiments/a", "is no name for an experiment"])
    }));
    cases.push(case(KIND, "a publication whose address is a script", "refused with its file", || {
        let fake = Fake::new();
        let published = fake.read("data/published/elsewhere.toml");
        fake.write(
            "data/published/elsewhere.toml",
            &published.replacen("https://example.org/elsewhere", "javascript:alert(1)", 1),
        );
        refused(fake.tally(&["list"]), &["elsewhere.toml", "no address of a page"])
    }));
    cases.push(case(KIND, "a machine whose fact says **cmdrun error**", "the build goes on, and shows it", || {
        let fake = measured();
        fake.change_record(&fake.record().replacen("\"CPU\":\"", "\"CPU\":\"**cmdrun error**: ", 1));
        let output = preprocess(&fake, "cmdrun", json!({}), "<!-- cmdrun tally list --shown -->\n");
        let page = String::from_utf8_lossy(&output.stdout).into_owned();
        unless(!output.status.success() || !page.contains("cmdrun error"), page, "it is text")
    }));
    cases.push(case(KIND, "prose that says **cmdrun error**", "the build goes on", || {
        let fake = Fake::new();
        let output = preprocess(&fake, "cmdrun", json!({}), "mdbook-cmdrun says **cmdrun error**: so.\n");
        unless(!output.status.success(), String::from_utf8_lossy(&output.stderr), "it is text")
    }));
    cases
}

// Directives

fn directives() -> Vec<Case> {
    const KIND: &str = "A directive goes through no shell, and what is not understood is an error with page and line";
    let wrong = |content: &'static str, words: &'static str| {
        case(KIND, format!("{content:?} in a page"), "build and check say so, and nothing is run", move || {
            let fake = measured();
            let page = format!("# Chapter\n\n{content}\n");
            let output = preprocess(&fake, "cmdrun", json!({}), &page);
            let built = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                return Err(format!("the build goes on: {}", String::from_utf8_lossy(&output.stdout)));
            }
            let record = fake.record();
            fake.write("book/src/chapter.md", &page);
            let checked = said(fake.tally(&["check"])).text;
            has(&built, &["chapter.md, line 3", words])?;
            let seen = has(&checked, &["book/src/chapter.md, line 3", words])?;
            let ran =
                ["pwned", "book/src/pwned"].iter().any(|file| fake.path(file).exists()) || fake.record() != record;
            unless(ran, "a command was run", seen)
        })
    };
    vec![
        wrong("<!-- cmdrun tally value \"slow[free]\" $(touch pwned) -->", "no shell"),
        wrong("<!-- cmdrun tally value `touch pwned` -->", "no shell"),
        wrong("<!-- cmdrun tally value \"slow[free]\"; touch pwned -->", "no shell"),
        wrong("<!-- cmdrun tally value \"slow[free]\" && touch pwned -->", "no shell"),
        wrong("<!-- cmdrun tally value \"slow[free]\" > pwned -->", "no shell"),
        wrong("<!-- cmdrun tally value \"slow[free]\" | tee pwned -->", "no shell"),
        wrong("<!-- cmdrun tally value 'slow[free]' -->", "no shell"),
        wrong("<!-- cmdrun tally value\n\"slow[free]\" -->", "on one line"),
        wrong("<!-- cmdrun tally value \"slow[free]\"", "no end"),
        wrong("<!-- CmdRun tally value \"slow[free]\" -->", "small letters"),
        wrong("<!--\tcmdrun tally value \"slow[free]\" -->", "spaces only"),
        wrong("<!-- cmdrun tally value \"slow[free] -->", "quotation mark"),
        wrong("<!-- cmdrun tally measure pair --again --programs programs -->", "may only print"),
        wrong("<!-- cmdrun tally export a-machine -->", "may only print"),
        wrong("<!-- cmdrun tally value \"slow[free]\" --machine local -->", "one machine and one form"),
        wrong("<!-- cmdrun touch pwned -->", "book.toml lists"),
        wrong("<!-- cmdrun tally value nobody -->", "unknown program"),
        case(KIND, "a page in a folder of pages, with a directive that is none", "check names it", || {
            let fake = measured();
            fake.write("book/src/deep/page.md", "\n<!-- cmdrun tally dance -->\n");
            refused(fake.tally(&["check"]), &["book/src/deep/page.md, line 2"])
        }),
        case(KIND, "a fact that is a directive, on a page", "it is shown, and not read again", || {
            let fake = measured();
            let hostile = "<!-- cmdrun touch pwned -->{{#include x}}";
            fake.change_record(&fake.record().replacen("\"CPU\":\"", &format!("\"CPU\":\"{hostile}"), 1));
            let output = preprocess(
                &fake,
                "cmdrun",
                json!({}),
                "<!-- cmdrun tally list --shown --> <!-- cmdrun tally list --machines -->\n",
            );
            let page = String::from_utf8_lossy(&output.stdout).into_owned();
            unless(
                !output.status.success() || page.contains("<!--") || page.contains("{{#"),
                page,
                "&#60;!-- cmdrun touch …",
            )
        }),
    ]
}

// What is private

fn private() -> Vec<Case> {
    const KIND: &str = "Nothing private is recorded, shown or exported";
    let says = |done: &'static str, text: &'static str, kept: &'static str| {
        case(KIND, done, "the record has the rest of it without the folder", move || {
            let fake = Fake::new();
            fake.program("slow", &format!("echo \"{text}\" >&2; exit 101"));
            said(fake.measure(&["--effort", "test"]));
            let record = fake.record();
            let seen = has(&record, &[kept])?;
            unless(record.contains("arthur"), record, seen)
        })
    };
    let contains = |done: &'static str, variable: &'static str, value: &'static str, text: &'static str| {
        case(KIND, done, "export refuses it", move || {
            let fake = measured();
            fake.change_record(&fake.record().replacen("no steady state", text, 1));
            let mut export = fake.tally(&["export", "a-machine"]);
            export.env(variable, value);
            let seen = refused(export, &["is not exported"])?;
            unless(fake.path("data/machines/a-machine").exists(), "something was exported", seen)
        })
    };
    let called = |variable: &'static str, word: &'static str| {
        case(KIND, format!("{variable} is {word:?}, a word of the programs"), "it is no secret: exported", move || {
            let fake = measured();
            fake.write("benches-src/chapter/src/lib.rs", "//! A thread of the core, free, with data.\n");
            fake.change_record(&fake.record().replacen("no steady state", &format!("no {word} in a steady state"), 1));
            let mut export = fake.tally(&["export", "a-machine"]);
            export.env(variable, word);
            let Said { ok, text } = said(export);
            unless(!ok, text, "wrote …/pair.jsonl")
        })
    };
    vec![
        says(
            "a panic inside a dependency, built in somebody's CARGO_HOME",
            "thread panicked at /opt/arthur/cargo/registry/src/index.io-1/tokio-1.4.0/src/a.rs:1:2",
            "[cargo]/tokio-1.4.0/src/a.rs:1:2",
        ),
        says(
            "a panic in a checkout elsewhere",
            "thread panicked at /srv/arthur/book/benches-src/x/src/bin/slow.rs:9:5:",
            "[folder]/slow.rs:9:5",
        ),
        says("an error that names a folder", "cannot open /home/arthur/.config: denied", "cannot open [folder]"),
        case(
            KIND,
            "a reason for which something is unavailable names a folder",
            "the record has it without the folder",
            || {
                let fake = Fake::new();
                fake.program("slow", r#"echo '{"program":"chapter/slow","parameters":{"size":3},"placement":"free","unavailable":{"elapsed":"/home/arthur/x is a folder"}}'"#);
                support::succeed(fake.measure(&[]));
                unless(fake.record().contains("arthur"), fake.record(), "[folder] is a folder")
            },
        ),
        contains(
            "a record with the folder of CARGO_HOME",
            "CARGO_HOME",
            "/opt/arthur",
            "in /opt/arthur: no steady state",
        ),
        contains(
            "a record with the folder of CARGO_TARGET_DIR",
            "CARGO_TARGET_DIR",
            "/mnt/arthur",
            "in /mnt/arthur: no steady state",
        ),
        contains(
            "a record with the folder of RUSTUP_HOME",
            "RUSTUP_HOME",
            "/mnt/arthur",
            "in /mnt/arthur/x: no steady state",
        ),
        contains("a record with the folder of TMPDIR", "TMPDIR", "/var/tmp", "in /var/tmp/arthur: no steady state"),
        contains("a record with this user's name", "USER", "arthur-dent", "arthur-dent has no steady state"),
        case(
            KIND,
            "a user who is called like a word of the kernel's release",
            "export says the cure, and it helps",
            || {
                let fake = measured();
                let kernel = fake.record().split("\"kernel\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
                let of_generic = fake.record().replace(&format!("\"{kernel}\""), "\"6.1.0-9-generic\"");
                fake.change_record(&of_generic);
                let export = |more: &[&str]| {
                    let mut export = fake.tally(&[&["export", "a-machine"], more].concat());
                    export.env("USER", "generic");
                    export
                };
                let words =
                    ["\"6.1.0-9-generic\"", "--no-secret generic", "TALLY_NO_SECRET=generic in the environment"];
                let seen = refused(export(&[]), &words)?;
                refused(export(&["--no-secret", "gener"]), &["is not exported"])?;
                let mut by_variable = export(&[]);
                by_variable.env("TALLY_NO_SECRET", "amd64,generic");
                let Said { ok, text } = said(by_variable);
                unless(!ok, text, seen.clone())?;
                fs::remove_dir_all(fake.path("data/machines/a-machine")).unwrap();
                let Said { ok, text } = said(export(&["--no-secret", "generic"]));
                unless(!ok, text, seen)
            },
        ),
        called("HOSTNAME", "thread"),
        called("HOSTNAME", "free"),
        called("USER", "core"),
        called("LOGNAME", "data"),
    ]
}

// Somebody is left running, or left alone

fn leftovers() -> Vec<Case> {
    const KIND: &str = "Nobody is left running, or left alone";
    let slowly = || format!("sleep 0.2; {}", observation("slow", 2000));
    vec![
        case(
            KIND,
            "mdBook is killed while tally measures for it",
            "tally ends with it, keeps what it has, and the next build goes on",
            move || {
                let fake = Fake::new();
                fake.program("slow", &slowly());
                fake.write("question.json", &book(&fake, json!({ "effort": "quick" }), ""));
                let tally = env!("CARGO_BIN_EXE_tally");
                let mut mdbook = Command::new("sh");
                mdbook.args(["-c", &format!("{tally} preprocess measure < question.json; :")]).current_dir(fake.root());
                mdbook.env("TALLY_TEST_LOCK", fake.root()).env("TALLY_PROGRAMS", fake.path("programs"));
                let mut mdbook = mdbook.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                let partial = fake.path(&format!("{RECORD}.partial"));
                wait_until(|| lines(&partial) > 3)?;
                mdbook.kill().unwrap();
                mdbook.wait().unwrap();
                thread::sleep(Duration::from_secs(1));
                let then = lines(&partial);
                thread::sleep(Duration::from_secs(1));
                if !partial.exists() || lines(&partial) != then {
                    return Err("it goes on measuring".to_owned());
                }
                has(&said(fake.measure(&[])).text, &["going on with chapter/pair"])
            },
        ),
        case(
            KIND,
            "tally is killed twenty times while programs have temporary files",
            "no more of these than one session's",
            || {
                let fake = Fake::new();
                let before = temporary(Path::new("/tmp"));
                fake.program(
                    "slow",
                    &format!("mktemp -d -t tally-fault.XXXXXX >/dev/null; sleep 0.05; {}", observation("slow", 2000)),
                );
                for _ in 0..20 {
                    let mut tally = fake.measure(&["--again"]).stderr(Stdio::null()).spawn().unwrap();
                    let partial = fake.path(&format!("{RECORD}.partial"));
                    let before = lines(&partial);
                    wait_until(|| lines(&partial) > before || tally_is_done(&fake)).ok();
                    tally.kill().unwrap();
                    tally.wait().unwrap();
                }
                support::succeed(fake.measure(&["--again"]));
                let all =
                    temporary(&fake.path("target/temporary")) + temporary(fake.root()) + temporary(Path::new("/tmp"))
                        - before;
                unless(all > 0, format!("{all} temporary folders are left"), "none is left")
            },
        ),
        case(KIND, "standard error is a pipe that nobody reads", "it measures, without a panic", || {
            let fake = Fake::new();
            let tally = env!("CARGO_BIN_EXE_tally");
            let mut piped = Command::new("sh");
            piped.args([
                "-c",
                &format!("{{ {tally} measure --programs programs 2>&1 >/dev/null; echo $? > status; }} | true"),
            ]);
            piped.current_dir(fake.root()).env("TALLY_TEST_LOCK", fake.root()).status().unwrap();
            wait_until(|| fake.path("status").exists())?;
            let status = fake.read("status");
            unless(
                status.trim() != "0" || !fake.path(RECORD).exists(),
                format!("status {status}"),
                "status 0, and a record",
            )
        }),
        case(KIND, "standard error is closed", "it measures, without a panic", || {
            let fake = Fake::new();
            let tally = env!("CARGO_BIN_EXE_tally");
            let mut closed = Command::new("sh");
            closed.args(["-c", &format!("exec {tally} measure --programs programs 2>&-")]);
            let status = closed.current_dir(fake.root()).env("TALLY_TEST_LOCK", fake.root()).status().unwrap();
            unless(!status.success() || !fake.path(RECORD).exists(), status.to_string(), "status 0, and a record")
        }),
        case(KIND, "standard output is closed by its reader", "no panic", || {
            let fake = measured();
            let tally = env!("CARGO_BIN_EXE_tally");
            let mut piped = Command::new("sh");
            piped
                .args(["-c", &format!("{{ {tally} list; echo $? > status; }} 2>errors | true")])
                .current_dir(fake.root())
                .status()
                .unwrap();
            wait_until(|| fake.path("status").exists())?;
            let errors = fake.read("errors");
            unless(errors.contains("panicked"), errors.clone(), "nothing is said")
        }),
    ]
}

/// How many temporary folders of that program lie here.
fn temporary(folder: &Path) -> usize {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().starts_with("tally-fault.")).count()
}

fn tally_is_done(fake: &Fake) -> bool {
    fake.path(RECORD).exists()
}

// Machines that lack something

fn machines_without() -> Vec<Case> {
    const KIND: &str = "A machine that lacks something says what";
    vec![
        case(KIND, "Node is not installed, and its packages are there", "the build says so, once", || {
            let fake = Fake::new();
            let output = build_along(&fake, Path::new("/nowhere"));
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let seen = has(&text, &["Node.js 20 or newer was not found"])?;
            unless(!output.status.success() || text.matches("Node.js").count() != 1, text, seen)
        }),
        case(KIND, "Node is of version 18", "the build says so", || {
            let fake = Fake::new();
            fake.script("bin/node", "echo v18.19.0");
            has(&String::from_utf8_lossy(&build_along(&fake, &fake.path("bin")).stderr), &["v18.19.0"])
        }),
        case(
            KIND,
            "the disk below target is full, and a linker is ended by a signal",
            "it is said which disk, and what to do",
            || {
                let fake = Fake::new();
                fs::create_dir_all(fake.path("target")).unwrap();
                let Some(_disk) = Mounted::new(&fake.path("target"), &["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) else {
                    return Ok(format!("{SKIPPED}this user cannot mount"));
                };
                fake.script("bin/cargo", "exit 101");
                let path = format!("{}:/usr/bin:/bin", fake.path("bin").display());
                let mut measure = fake.tally(&["measure"]);
                measure.env("PATH", path);
                refused(measure, &["cannot be built", "is full", "Make room"])
            },
        ),
        case(KIND, "a disk below target without inodes", "it is said, and no record is lost", || {
            let fake = measured();
            let good = fake.record();
            fs::remove_dir_all(fake.path("target")).unwrap();
            fs::create_dir_all(fake.path("target")).unwrap();
            let Some(_disk) = Mounted::new(&fake.path("target"), &["-t", "tmpfs", "-o", "nr_inodes=2", "tmpfs"]) else {
                return Ok(format!("{SKIPPED}this user cannot mount"));
            };
            let seen = refused(fake.measure(&["--again"]), &["is the disk full?"])?;
            unless(fake.record() != good, "the record was replaced", seen)
        }),
        case(KIND, "a checkout that cannot be written", "tally prints what it has", || {
            let fake = measured();
            let Some(_readonly) = Mounted::read_only(fake.root()) else {
                return Ok(format!("{SKIPPED}this user cannot mount"));
            };
            let Said { ok, text } = said(fake.tally(&["value", "slow[free] / fast[free]"]));
            let seen = has(&text, &["2.00"])?;
            unless(!ok, text, seen)?;
            refused(fake.measure(&["--again"]), &["is it writable"])
        }),
        case(
            KIND,
            "the disk below target is full, and no digest of a bundle is there",
            "its numbers are shown",
            || {
                let fake = measured();
                fake.contribute("a-machine", &fake.record());
                fs::remove_dir_all(fake.path("target")).unwrap();
                fs::create_dir_all(fake.path("target")).unwrap();
                let Some(_disk) = Mounted::new(&fake.path("target"), &["-t", "tmpfs", "-o", "size=4k", "tmpfs"]) else {
                    return Ok(format!("{SKIPPED}this user cannot mount"));
                };
                let _ = fs::write(fake.path("target/full"), [0; 1 << 16]);
                let Said { ok, text } =
                    said(fake.tally(&["value", "slow[free] / fast[free]", "--machine", "a-machine"]));
                let seen = has(&text, &["2.00"])?;
                unless(!ok || text.contains("tally:"), text, seen)
            },
        ),
        case(KIND, "a checkout that cannot be written, and no digest of a bundle is there", "the same", || {
            let fake = measured();
            fake.contribute("a-machine", &fake.record());
            fs::remove_dir_all(fake.path("target")).unwrap();
            let Some(_readonly) = Mounted::read_only(fake.root()) else {
                return Ok(format!("{SKIPPED}this user cannot mount"));
            };
            let Said { ok, text } = said(fake.tally(&["value", "slow[free] / fast[free]", "--machine", "a-machine"]));
            let seen = has(&text, &["2.00"])?;
            unless(!ok || text.contains("tally:"), text, seen)
        }),
        case(KIND, "data/local is a file", "it is named", || {
            let fake = Fake::new();
            fake.write("data/local", "");
            refused(fake.measure(&[]), &["data/local", "writable"])
        }),
    ]
}

// What people's own tools do to a checkout

fn workplaces() -> Vec<Case> {
    const KIND: &str = "What people's tools leave in a checkout is none of its sources";
    let left = |name: &'static str, is_link: bool| {
        case(KIND, format!("an editor leaves {name} in every folder of sources"), "nothing changes", move || {
            let fake = measured();
            let record = fake.record();
            for folder in [
                "benches-src/harness/src",
                "benches-src/chapter/src",
                "benches-src/chapter/src/bin",
                "benches-src/chapter/experiments",
                "benches-src/chapter/claims",
                "data/published",
            ] {
                let path = fake.path(folder).join(name);
                if is_link {
                    std::os::unix::fs::symlink("somebody@somewhere.1:2", path).unwrap();
                } else {
                    fs::write(path, "what is being written").unwrap();
                }
            }
            let Said { ok, text } = said(fake.measure(&[]));
            unless(!ok || fake.record() != record, text, "nothing is measured again")?;
            let Said { ok, text } = said(fake.tally(&["value", "slow[free] / fast[free]"]));
            unless(!ok || !text.contains("2.00"), text.clone(), text.clone())
        })
    };
    vec![
        left(".lib.rs.swp", false),
        left(".#lib.rs", true),
        left(".#pair.toml", true),
        left("pair.toml~", false),
        left("#pair.toml#", false),
        left(".pair.toml.swp", false),
        case(KIND, "git that makes no links wrote one as a file", "the reference is found", || {
            let fake = measured();
            fake.contribute("somewhere", &fake.record());
            fake.write("data/machines/reference", "somewhere");
            let Said { ok, text } = said(fake.tally(&["value", "slow[free] / fast[free]", "--machine", "reference"]));
            let seen = has(&text, &["2.00"])?;
            unless(!ok, text, seen)
        }),
        case(
            KIND,
            "git that writes the line ends of Windows checks it out",
            "every file has the bytes that were hashed",
            || {
                let (fake, clone) = (Fake::new(), tempfile::tempdir().unwrap());
                fake.write(".gitattributes", include_str!("../../../../.gitattributes"));
                let git = |arguments: &[&str]| {
                    let mut git = Command::new("git");
                    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments);
                    let done = git.current_dir(fake.root()).stdout(Stdio::null()).stderr(Stdio::null()).status();
                    assert!(done.unwrap().success(), "git {arguments:?}");
                };
                git(&["init", "-q"]);
                git(&["add", "benches-src", "book.toml", ".gitattributes"]);
                git(&["commit", "-q", "-m", "x"]);
                let to = clone.path().join("checkout");
                git(&["clone", "-q", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", ".", to.to_str().unwrap()]);
                let listing = "benches-src/chapter/src/bin/slow.rs";
                let cloned = fs::read_to_string(to.join(listing)).unwrap();
                unless(cloned != fake.read(listing), format!("{cloned:?}"), "the same bytes")
            },
        ),
        case(KIND, "no registry of packages can be reached", "it is said, and not asked at every build", || {
            let fake = Fake::new();
            fake.write("book/charts/package-lock.json", "{}");
            fake.script("bin/node", "echo v22.1.0");
            fake.script("bin/npm", "echo asked >> npm.log; echo 'getaddrinfo EAI_AGAIN' >&2; exit 1");
            let path = format!("{}:/usr/bin:/bin", fake.path("bin").display());
            let build = || String::from_utf8_lossy(&build_along(&fake, Path::new(&path)).stderr).into_owned();
            has(&build(), &["npm ci failed", "EAI_AGAIN"])?;
            let seen = has(&build(), &["npm ci failed", "seconds ago", "to try again at once"])?;
            let asked = fake.read("book/charts/npm.log").lines().count();
            unless(asked != 1, format!("asked {asked} times"), seen)
        }),
    ]
}

// Where a checkout lies, and from where and in which environment a command is started

fn surroundings() -> Vec<Case> {
    const KIND: &str = "Where a checkout lies, and from where a command is started, changes nothing";
    let works = |measure: Command, fake: &Fake| {
        let Said { ok, text } = said(measure);
        unless(!ok, text, "measured")?;
        let Said { ok, text } = said(fake.tally(&["value", "slow[free] / fast[free]"]));
        let seen = has(&text, &["2.00"])?;
        unless(!ok, text, seen)
    };
    let lies = |name: &'static [u8]| {
        let name = OsStr::from_bytes(name);
        case(KIND, format!("the checkout lies in a folder {name:?}"), "it is measured and printed", move || {
            let outer = tempfile::tempdir().unwrap();
            let folder = outer.path().join(name);
            fs::create_dir(&folder).unwrap();
            let fake = Fake::inside(&folder);
            let seen = works(fake.measure(&[]), &fake)?;
            let is_pwned = [outer.path(), &folder, fake.root()].iter().any(|folder| folder.join("pwned").exists());
            unless(is_pwned, "its name was run", seen)
        })
    };
    let among = |name: &'static str, value: Option<&'static str>| {
        case(KIND, format!("{name} is {value:?}"), "it is measured and printed", move || {
            let fake = Fake::new();
            let mut measure = fake.measure(&[]);
            match value {
                Some(value) => measure.env(name, value),
                None => measure.env_remove(name),
            };
            works(measure, &fake)
        })
    };
    let mut cases: Vec<Case> = [
        &b"a b"[..],
        b"it's",
        b"\"quoted\"",
        b"$(touch pwned)",
        b"`touch pwned`",
        b"a;touch pwned",
        b"line\nbreak",
        b"-rf",
        b"%s{}",
        "\u{fc}n\u{ef}".as_bytes(),
        b"not UTF-8 \xff\xfe",
    ]
    .map(lies)
    .into();
    cases.extend([
        among("HOME", None),
        among("LC_ALL", Some("tr_TR.UTF-8")),
        among("TZ", Some("Pacific/Kiritimati")),
        among("RUST_BACKTRACE", Some("full")),
        among("TERM", Some("dumb")),
        among("COLUMNS", Some("0")),
        case(KIND, "a verb is started below the checkout", "it finds it", || {
            let fake = measured();
            let mut value = fake.tally(&["value", "slow[free] / fast[free]"]);
            value.current_dir(fake.path("book/src/chapter"));
            let Said { ok, text } = said(value);
            let seen = has(&text, &["2.00"])?;
            unless(!ok, text, seen)
        }),
        case(KIND, "a verb is started elsewhere", "it says where it must be started", || {
            let elsewhere = tempfile::tempdir().unwrap();
            let mut list = Command::new(env!("CARGO_BIN_EXE_tally"));
            list.arg("list").current_dir(elsewhere.path());
            refused(list, &["checkout"])
        }),
        case(KIND, "the folder in which it is started is gone", "it says so", || {
            let gone = tempfile::tempdir().unwrap();
            let script = format!("rmdir '{}'; exec {} list", gone.path().display(), env!("CARGO_BIN_EXE_tally"));
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(gone.path());
            refused(shell, &["tally:"])
        }),
    ]);
    cases
}

/// A build that measures nothing, which finds programs along this path.
fn build_along(fake: &Fake, path: &Path) -> Output {
    let mut command = fake.tally(&["preprocess", "measure"]);
    command.env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let book = book(fake, json!({ "effort": "never" }), "");
    child.stdin.take().unwrap().write_all(book.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// A mount that lasts until this is dropped.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn new(at: &Path, arguments: &[&str]) -> Option<Self> {
        let mut mount = Command::new("mount");
        let status = mount.args(arguments).arg(at).stderr(Stdio::null()).status().ok()?;
        status.success().then(|| Self(at.to_owned()))
    }

    fn read_only(at: &Path) -> Option<Self> {
        let own = at.to_str()?;
        let mounted = Self::new(at, &["--bind", own])?;
        let mut again = Command::new("mount");
        again.args(["-o", "remount,bind,ro"]).arg(at).stderr(Stdio::null());
        again.status().ok()?.success().then_some(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
