//! Every program of the chapter is run small, as a reader would run it, and its work is checked; then everything that can go wrong.
//! No test moves a limit of the whole system.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use limits::{Detective, End, Machine, Order, Report, Roots, Undo, Used, send_up, suspects};
use observation::Observation;
use support::{each_program_does_what_it_says, observe, seen, skipped};

const THREAD: &str = env!("CARGO_BIN_EXE_reach-thread");
const PTHREAD: &str = env!("CARGO_BIN_EXE_reach-pthread");
const EXECUTOR: &str = env!("CARGO_BIN_EXE_reach-executor");
const THREAD_BRIGADE: &str = env!("CARGO_BIN_EXE_reach-thread-brigade");
const TOKIO_BRIGADE: &str = env!("CARGO_BIN_EXE_reach-tokio-brigade");
const DETECT: &str = env!("CARGO_BIN_EXE_detect-limit");
const PROGRAMS: [&str; 6] =
    [THREAD, PTHREAD, env!("CARGO_BIN_EXE_reach-tokio"), EXECUTOR, THREAD_BRIGADE, TOKIO_BRIGADE];

fn value(seen: &Observation, measure: &str) -> f64 {
    seen.measures.get(measure).unwrap_or_else(|| panic!("no {measure} in {seen:?}")).values[0]
}

/// A fresh order for small stacks.
fn order(most: u64) -> Order {
    Order::new(most, &serde_json::json!({ "stack_bytes": 65536, "second_stack": "none" })).unwrap()
}

/// A script in the place of a climbing program. Another process writes it: a program that another test starts at this moment would have this
/// one's descriptor for a while, and what is open to be written cannot be run.
fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("script");
    let mut write = Command::new("sh");
    write.args(["-c", r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#, "sh"]).arg(&path).arg(text);
    assert!(write.status().unwrap().success());
    path
}

fn within(seconds: u64, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        if done() {
            return true;
        }
        sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_stack_that_the_c_library_finds_too_small_is_unavailable_and_says_how_large_it_has_to_be() {
    let order = Order::new(5, &serde_json::json!({ "stack_bytes": 1024, "second_stack": "none" })).unwrap();
    let error = send_up(PTHREAD, &order).unwrap().reached().unwrap_err();
    assert!(error.is::<harness::Unavailable>(), "{error:#}");
    let least = libc::PTHREAD_STACK_MIN.to_string();
    assert!(error.to_string().contains(&format!("{least} bytes at least, and not of 1024")), "{error:#}");
}

#[test]
fn each_program_does_its_work_once_and_says_what_it_has() {
    each_program_does_what_it_says(|program| {
        Some(match program {
            "machine-limits" => &[],
            // With a limit of its own, since it pushes to one.
            "detect-limit" => &["--push", "true", "--unit", "brigade", "--nofile", "400"],
            // A few, since by default each goes on to half of the nearest ceiling.
            _ => &["--most", "100"],
        })
    });
}

#[test]
fn as_many_as_asked_for_are_alive_at_once() {
    for program in PROGRAMS {
        let seen = observe(&[program], &["--most", "100"]);
        assert_eq!(value(&seen, "reached"), 100.0, "{program}");
        assert_eq!(value(&seen, "enough"), 1.0);
        assert_eq!(seen.unavailable["first_error"], "as many as were asked for are alive");
    }
}

#[test]
fn what_each_takes_is_what_was_predicted_of_it() {
    let seen = observe(&[THREAD], &["--most", "1000"]);
    assert!((value(&seen, "mappings_each") - 4.0).abs() < 0.1, "{seen:?}");
    let seen = observe(&[PTHREAD], &["--most", "1000"]);
    assert!((value(&seen, "mappings_each") - 2.0).abs() < 0.1, "{seen:?}");
    let seen = observe(&[PTHREAD], &["--most", "1000", "--second-stack", "guarded"]);
    assert!((value(&seen, "mappings_each") - 4.0).abs() < 0.1, "{seen:?}");
    let plain = value(&observe(&[PTHREAD], &["--most", "1000", "--second-stack", "plain"]), "mappings_each");
    assert!((2.0..=3.1).contains(&plain), "{plain}");
    for brigade in [THREAD_BRIGADE, TOKIO_BRIGADE] {
        assert_eq!(value(&observe(&[brigade], &["--most", "200"]), "descriptors_each"), 2.0);
    }
}

#[test]
fn no_second_stack_takes_more_mappings_than_the_ceiling_was_predicted_with() {
    let most: f64 = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    for second_stack in ["none", "plain", "guarded"] {
        let seen = observe(&[PTHREAD], &["--most", "1000", "--second-stack", second_stack]);
        assert!(value(&seen, "predicted") * value(&seen, "mappings_each") < 1.01 * most, "{seen:?}");
    }
}

#[test]
fn without_being_asked_to_push_half_of_the_nearest_ceiling_is_the_end() {
    let command = format!("ulimit -n 424; exec {THREAD_BRIGADE} --json");
    let seen = seen(Command::new("sh").args(["-c", &command]).output().unwrap());
    assert_eq!((value(&seen, "predicted"), value(&seen, "reached")), (200.0, 100.0));
    assert_eq!(
        seen.unavailable["first_error"],
        "it stopped at half of the nearest ceiling that was predicted, that of nofile"
    );
    let seen = observe(&[DETECT], &[]);
    assert!(seen.unavailable["elapsed"].contains("--push-limits"), "{seen:?}");
}

#[test]
fn where_as_many_are_insisted_on_the_limits_that_forbid_them_are_named_with_their_cure() {
    let command = format!("ulimit -n 424; exec {TOKIO_BRIGADE} --json --most 50000 --insist true");
    let seen = seen(Command::new("sh").args(["-c", &command]).output().unwrap());
    let reason = &seen.unavailable["elapsed"];
    assert!(reason.contains("50000 are wanted, and nofile allows 200 (prlimit --pid $$ --nofile=1048576"), "{reason}");
    assert_eq!(value(&observe(&[EXECUTOR], &["--most", "9", "--insist", "true"]), "reached"), 9.0);
}

#[test]
fn pushed_it_goes_on_until_something_says_no() {
    for brigade in [THREAD_BRIGADE, TOKIO_BRIGADE] {
        let command = format!("ulimit -n 424; exec {brigade} --push true --json");
        let seen = seen(Command::new("sh").args(["-c", &command]).output().unwrap());
        assert_eq!(value(&seen, "first_error"), f64::from(libc::EMFILE));
        assert_eq!(value(&seen, "refused"), 1.0);
        assert!((200.0..212.0).contains(&value(&seen, "reached")), "{seen:?}");
    }
}

#[test]
fn a_machine_has_limits_and_none_of_them_says_where() {
    let seen = observe(&[env!("CARGO_BIN_EXE_machine-limits")], &[]);
    assert!(value(&seen, "pid_max") > 300.0);
    assert!(value(&seen, "memory_total") > value(&seen, "memory_available"));
    assert!(value(&seen, "thread_ceiling") <= value(&seen, "thread_by_pid_max"));
    let text = serde_json::to_string(&seen).unwrap();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    for name in own.split(['/', '\n']).filter(|name| name.len() > 8 && !name.contains(':')) {
        assert!(!text.contains(name), "{name}");
    }
}

#[test]
fn the_detective_names_what_moved_the_ceiling() {
    let seen = observe(&[DETECT], &["--push", "true", "--unit", "brigade", "--nofile", "400"]);
    assert_eq!((value(&seen, "decided"), value(&seen, "named_nofile")), (1.0, 1.0), "{seen:?}");
    assert_eq!(value(&seen, "named_max_map_count"), 0.0);
    assert!((value(&seen, "reached_after") / value(&seen, "expected_after") - 1.0).abs() <= 0.02);
}

#[test]
fn nothing_is_named_where_nothing_said_no() {
    let seen = observe(&[DETECT], &["--push", "true", "--most", "50"]);
    assert_eq!(value(&seen, "decided"), 0.0);
    assert!(seen.unavailable["named"].contains("nothing said no"), "{seen:?}");
}

/// A machine of files, whose limits a test may move.
fn made_up(folder: &Path) -> Roots {
    let roots = Roots { proc: folder.join("proc"), cgroup: folder.join("cgroup") };
    for (path, text) in [("sys/vm/max_map_count", "1000"), ("sys/kernel/pid_max", "32768"), ("loadavg", "0 0 0 1/10 9")]
    {
        let path = roots.proc.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    roots
}

/// A climber that says that it was refused at 250 units of four mappings, whatever the limit is.
fn refused_at_250(folder: &Path, more: &str) -> Detective {
    let used = |mappings: u64| {
        format!(
            r#"{{"mappings":{mappings},"tasks":10,"ids_reserved":0,"largest_id":9,"descriptors":3,"in_groups":[],"refused_by_groups":[],"memory_available":1}}"#
        )
    };
    let report = format!(
        r#"{{"end":{{"Refused":11}},"said":"no","added":250,"alive":250,"before":{},"after":{}}}"#,
        used(0),
        used(1000)
    );
    let climber = script(folder, &format!("printf '%32s' ''; echo '{report}'; {more}"));
    let mut order = order(1_000_000);
    order.roots = made_up(folder);
    Detective { climber, guardian: DETECT.into(), order }
}

#[test]
fn an_accused_that_the_ceiling_does_not_follow_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let found = refused_at_250(folder.path(), "").investigate().unwrap();
    assert_eq!((found.reached, found.named), (250, None));
    assert_eq!(found.suspects[0].limit, "max_map_count");
    assert_eq!(found.undecided.unwrap(), "max_map_count was moved, and the ceiling did not follow: 250 instead of 200");
    let left = fs::read_to_string(folder.path().join("proc/sys/vm/max_map_count")).unwrap();
    assert_eq!(left, "1000", "and it is back where it stood");
}

#[test]
fn a_limit_that_somebody_else_moves_meanwhile_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let move_it = format!("echo 40000 > {}/proc/sys/kernel/pid_max", folder.path().display());
    let found = refused_at_250(folder.path(), &move_it).investigate().unwrap();
    assert_eq!(found.undecided.unwrap(), "pid_max was moved by somebody else meanwhile");
    assert_eq!(found.named, None);
}

/// At which level the group is that is accused, where one that allows for 990 more is below one that allows for 490, and the lower one counts.
fn accused_level(lower_counts_its_own: bool) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let roots = made_up(folder.path());
    let group = |name: &str, max: &str| {
        let group = roots.cgroup.join(name);
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("pids.max"), max).unwrap();
        group
    };
    let (_, lower) = (group("pids/a", "500"), group("pids/a/b", "1000"));
    if lower_counts_its_own {
        fs::write(lower.join("pids.events.local"), "max 1").unwrap();
    }
    fs::create_dir_all(roots.proc.join("self")).unwrap();
    fs::write(roots.proc.join("self/cgroup"), "8:pids:/a/b\n").unwrap();
    let used = |threads, refused| Used {
        in_groups: vec![threads, threads, threads],
        refused_by_groups: vec![refused, 0, 0],
        ..Used::default()
    };
    let (before, after) = (used(10, 0), used(500, 1));
    let report = Report { end: End::Refused(Some(11)), said: String::new(), added: 490, alive: 490, before, after };
    let suspects = suspects(&Machine::read(&roots), &order(1_000), &report);
    let refused: Vec<_> = suspects.into_iter().filter(|suspect| suspect.refused).collect();
    let [accused] = &refused[..] else { panic!("one is accused, and not {refused:?}") };
    accused.group.as_ref().unwrap().level
}

#[test]
fn a_group_is_accused_by_its_own_count_and_otherwise_the_nearest() {
    assert_eq!(accused_level(true), 0);
    assert_eq!(accused_level(false), 1, "its count is of refusals above it, too");
}

#[test]
fn an_abort_in_the_climb_is_seen_and_not_suffered() {
    let folder = tempfile::tempdir().unwrap();
    let aborting = script(folder.path(), "echo 'thread caused non-unwinding panic. aborting.' >&2; kill -ABRT $$");
    let outcome = send_up(&aborting, &order(10)).unwrap();
    assert!(outcome.is_aborted());
    assert_eq!(outcome.last_line, "thread caused non-unwinding panic. aborting.");
    assert_eq!(outcome.reached().unwrap(), 0);
}

#[test]
fn the_standard_library_aborts_where_mappings_run_out() {
    let most: u64 = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    if most > 300_000 {
        return skipped("so many mappings of its own would take longer than a test may");
    }
    let mut order = order(5_000);
    order.occupied_mappings = most - 2_000;
    // The heap is made large enough beforehand: what a mapping is refused for stops the heap too, and where it is full by then, an allocation
    // fails before a thread does, and ends the process without a report.
    let folder = tempfile::tempdir().unwrap();
    let thread = script(folder.path(), &format!("GLIBC_TUNABLES=glibc.malloc.top_pad=4194304 exec {THREAD} \"$@\""));
    let outcome = send_up(&thread, &order).unwrap();
    assert!(matches!(outcome.end(), Some(End::Aborted(_) | End::Refused(_))), "{outcome:?}");
    // Two mappings are for the stack of each thread that was added, and two for the signals of each that runs. How far these are behind
    // is the scheduler's affair: on a busy machine far.
    let report = outcome.report.as_ref().unwrap();
    let mappings = 2 * (report.added + report.alive);
    assert!((1_800..=2_000).contains(&mappings), "{report:?}");
}

#[test]
fn under_memory_pressure_it_stops_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut order = order(20_000_000);
    order.roots = made_up(folder.path());
    let meminfo = order.roots.proc.join("meminfo");
    let say = |available: u64| {
        let text = format!("MemTotal: 1000 kB\nMemAvailable: {available} kB\n");
        let beside = meminfo.with_extension("new");
        fs::write(&beside, text).unwrap();
        fs::rename(beside, &meminfo).unwrap();
    };
    say(250);
    assert_eq!(send_up(THREAD, &order).unwrap().reached().unwrap(), 0, "a quarter is kept free from the beginning");
    say(900);
    let climbing = std::thread::spawn(move || send_up(EXECUTOR, &order).unwrap());
    sleep(Duration::from_millis(100));
    say(200);
    let outcome = climbing.join().unwrap();
    assert_eq!(outcome.end(), Some(&End::Memory));
    let reached = outcome.reached().unwrap();
    assert!(reached > 0 && reached < 20_000_000, "{reached}");
}

/// The processes that a process has started.
fn children(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().map(|id| id.parse().unwrap()).collect()
}

/// Whether a process has ended, be it that nobody has asked how.
fn has_ended(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}

#[test]
fn killed_in_the_middle_it_leaves_no_thread_behind() {
    let mut program = Command::new(PTHREAD).args(["--most", "8000", "--json"]).stdout(Stdio::null()).spawn().unwrap();
    assert!(within(5, || !children(program.id()).is_empty()));
    let climber = children(program.id())[0];
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(within(20, || has_ended(climber)));
}

#[test]
fn a_climb_that_is_killed_says_how_far_it_had_come() {
    let program = Command::new(PTHREAD).args(["--most", "16000", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(within(5, || !children(program.id()).is_empty()));
    let climber = children(program.id())[0];
    sleep(Duration::from_millis(50));
    let killed = Command::new("kill").args(["-9", &climber.to_string()]).status().unwrap();
    let output = program.wait_with_output().unwrap();
    assert!(killed.success());
    let seen = seen(output);
    assert_eq!(value(&seen, "aborted"), 1.0);
    assert!(value(&seen, "reached") < 16_000.0);
    assert!(seen.unavailable["first_error"].contains("signal: 9"), "{seen:?}");
}

#[test]
fn what_was_moved_is_put_back_though_whoever_moved_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limit");
    fs::write(&path, "80").unwrap();
    let undo = Undo::Write { path: path.clone(), old: "100".to_owned(), new: "80".to_owned() };
    // Whoever holds the other end of the guardian's input, and never writes.
    let mut mover = Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().unwrap();
    let mut guardian = Command::new(DETECT)
        .args(["guard", &serde_json::to_string(&undo).unwrap()])
        .stdin(mover.stdout.take().unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(100));
    assert_eq!(fs::read_to_string(&path).unwrap(), "80", "as long as the mover lives");
    mover.kill().unwrap();
    mover.wait().unwrap();
    assert!(guardian.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&path).unwrap(), "100");
}

#[test]
fn bad_flags_are_refused_with_the_reason() {
    for (program, flags, reason) in [
        (THREAD, ["--most", "0"], "1..=100000000"),
        (PTHREAD, ["--stack-bytes", "1"], "16384..=1073741824"),
        (PTHREAD, ["--second-stack", "third"], "none, plain, guarded"),
        (DETECT, ["--unit", "moon"], "thread, pthread, brigade"),
    ] {
        let output = Command::new(program).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_control_group_that_binds_is_named() {
    let group = Path::new("/sys/fs/cgroup/pids/limits-test");
    let Ok(()) = fs::create_dir(group) else { return }; // Neither root nor the first version, or somebody else is testing.
    fs::write(group.join("pids.max"), "200").unwrap();
    let command = format!("echo 0 > {}/cgroup.procs; exec {DETECT} --push true --json --unit pthread", group.display());
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    let removed = within(10, || fs::remove_dir(group).is_ok());
    let seen = seen(output);
    assert_eq!((value(&seen, "decided"), value(&seen, "named_pids_max")), (1.0, 1.0), "{seen:?}");
    assert!(value(&seen, "reached") < 200.0);
    assert!(removed, "and no group is left below it");
}
