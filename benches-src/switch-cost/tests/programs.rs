//! Every program of the chapter is run as a reader would run it, and its work is checked.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use observation::{Description, Observation};
use support::{description, observe, programs_of_the_crate, run, seen, skipped};

const LOOP_SOCKET: &str = env!("CARGO_BIN_EXE_loop-socket");
const THREAD_SOCKET: &str = env!("CARGO_BIN_EXE_thread-socket");
const TASK_SOCKET: &str = env!("CARGO_BIN_EXE_task-socket");
const PROCESS_SOCKET: &str = env!("CARGO_BIN_EXE_process-socket");
const CALL_THREAD: &str = env!("CARGO_BIN_EXE_call-thread");
const THREAD_CHANNEL: &str = env!("CARGO_BIN_EXE_thread-channel");
const READ_THREAD: &str = env!("CARGO_BIN_EXE_read-thread");
const READ_PIECES: &str = env!("CARGO_BIN_EXE_read-pieces");
const READ_URING: &str = env!("CARGO_BIN_EXE_read-uring");

/// Small values, for every program that has such a parameter.
const SMALL: [(&str, u64); 6] =
    [("hops", 16), ("members", 3), ("each", 7), ("bytes", 65_536), ("busy_ms", 1), ("pause_us", 5)];

/// A program, with what it says of itself and what its parameters are to be.
#[derive(Debug, Clone)]
struct Program {
    name: String,
    path: String,
    said: Description,
    parameters: BTreeMap<String, String>,
}

/// Whatever lies in the chapter's folder of programs: a new one is tested as soon as it is there.
fn programs() -> Vec<Program> {
    let mut programs: Vec<_> = programs_of_the_crate().into_iter().map(Program::of).collect();
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(!programs.is_empty());
    programs
}

/// Those that are timed in laps, each with every word that one of its parameters may be. The others
/// are done once in a process.
fn timed() -> Vec<Program> {
    let timed = programs().into_iter().filter(Program::is_timed);
    timed.flat_map(|program| [program.in_other_words(), vec![program]].concat()).collect()
}

/// Those of them that have a parameter of this name.
fn with(parameter: &str) -> Vec<Program> {
    timed().into_iter().filter(|program| program.has(parameter)).collect()
}

impl Program {
    fn of(name: String) -> Self {
        let path = Path::new(LOOP_SOCKET).with_file_name(&name).to_str().unwrap().to_owned();
        let said = description(&path);
        let new = Self { name, path, said, parameters: BTreeMap::new() };
        SMALL.iter().filter(|(name, _)| new.has(name)).fold(new.clone(), |own, (name, value)| own.given(name, value))
    }

    fn is_timed(&self) -> bool {
        self.said.measures.iter().any(|own| own.name == "clock_cost")
    }

    /// Whether it starts a tool of others, which this machine may not have.
    fn is_tool(&self) -> bool {
        self.name.starts_with("tool-")
    }

    fn has(&self, parameter: &str) -> bool {
        self.said.parameters.iter().any(|own| own.name == parameter)
    }

    fn given(&self, parameter: &str, value: impl ToString) -> Self {
        let mut other = self.clone();
        other.parameters.insert(parameter.to_owned(), value.to_string());
        other
    }

    /// The same with each word that is not the default.
    fn in_other_words(&self) -> Vec<Self> {
        let words = self.said.parameters.iter().flat_map(|own| own.values.iter().map(move |word| (own, word)));
        let others = words.filter(|(own, word)| own.default.as_ref() != Some(word));
        others.map(|(own, word)| self.given(&own.name, word)).collect()
    }

    /// Operations in one lap.
    fn operations(&self) -> u64 {
        let number = |name: &str| self.parameters.get(name).map_or(1, |value| value.parse().unwrap());
        match self.name.as_str() {
            // There and back.
            "coroutine-switch" => 2,
            // Each line once.
            "chase-memory" => number("bytes") / 64,
            // A file of 1 MiB, 4 KiB at a time.
            name if name.starts_with("read-") => 256,
            _ => number("hops") * number("chains") * number("members") * number("each"),
        }
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        let parameters = self.parameters.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-")));
        command.args(parameters).args(flags);
        command
    }

    #[track_caller]
    fn says(&self, flags: &[&str]) -> String {
        let output = self.command(flags).output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn observe(&self, flags: &[&str]) -> Observation {
        serde_json::from_str(&self.says(&[flags, &["--json"]].concat())).unwrap()
    }
}

#[test]
fn each_program_says_what_it_is_and_what_it_has() {
    for Program { name, said, .. } in programs() {
        assert_eq!(said.program, format!("switch-cost/{name}"));
        assert!(said.measures.iter().any(|own| own.name == "elapsed" && own.unit == "ns"), "{said:?}");
        assert!(said.parameters.iter().all(|own| !own.means.is_empty()), "{said:?}");
    }
}

#[test]
fn each_program_does_its_work_once_and_says_so() {
    for program in timed() {
        for placement in ["one-cpu", "free"] {
            let done = format!("{} operations done and counted\n", program.operations());
            assert_eq!(program.says(&["--once", "--placement", placement]), done, "{program:?}");
        }
    }
}

#[test]
fn what_each_program_prints_can_be_left_out() {
    for program in timed() {
        assert_eq!(program.says(&["--once", "--quiet"]), "", "{program:?}");
    }
}

#[test]
fn exactly_so_many_laps_are_counted() {
    for program in timed() {
        let seen = program.observe(&["--iters", "4", "--warmups", "1", "--placement", "one-cpu"]);
        assert_eq!(seen.samples[0].operations, 4 * program.operations(), "{program:?}");
    }
}

#[test]
fn many_laps_in_several_samples_are_all_counted() {
    for program in timed() {
        let seen = program.observe(&["--warm-up-ms", "1", "--measurement-ms", "5"]);
        assert_eq!(seen.samples.len(), 10, "{program:?}");
        let whole = |laps: u64| laps > 0 && laps.is_multiple_of(program.operations());
        assert!(seen.samples.iter().all(|sample| whole(sample.operations)), "{program:?}");
    }
}

#[test]
fn a_channel_with_room_for_more_carries_the_same() {
    for program in with("capacity") {
        assert_eq!(program.given("capacity", 3).says(&["--once"]), "16 operations done and counted\n", "{program:?}");
    }
}

#[test]
fn chains_buffers_and_working_sets_change_nothing_of_what_is_counted() {
    for program in with("touch_bytes") {
        let odd = program.given("hops", 5).given("chains", 3).given("read_bytes", 2).given("touch_bytes", 4096);
        for placement in ["one-cpu", "two-cpus", "free"] {
            let seen = odd.observe(&["--iters", "4", "--warmups", "1", "--placement", placement]);
            if placement == "two-cpus" && seen.samples.is_empty() {
                continue; // A machine of one CPU says so.
            }
            assert_eq!(seen.samples[0].operations, 5 * 3 * 4, "{odd:?}");
        }
    }
}

#[test]
fn a_neighbour_that_computes_keeps_a_task_waiting_and_not_a_thread() {
    let laps = ["--histogram", "9", "--placement", "one-cpu"];
    let median = |program: &[&str]| {
        let seen = observe(program, &laps);
        let buckets = &seen.histograms["lap"].buckets;
        buckets[buckets.len() / 2].0
    };
    assert!(median(&[env!("CARGO_BIN_EXE_stall-task"), "--runtime", "current", "--busy-ms", "40"]) >= 39_000_000);
    assert!(median(&[env!("CARGO_BIN_EXE_stall-thread")]) < 39_000_000);
}

#[test]
fn single_laps_make_a_histogram() {
    let two_hops = ["--hops", "2"];
    let executor_channel = env!("CARGO_BIN_EXE_executor-channel");
    let rings = [THREAD_SOCKET, TASK_SOCKET, executor_channel].map(|program| (program, &two_hops[..]));
    for (program, hops) in rings.into_iter().chain([(env!("CARGO_BIN_EXE_call-task"), &[][..])]) {
        let seen = observe(&[program], &[&["--histogram", "300", "--warmups", "10"], hops].concat());
        let laps: u64 = seen.histograms["lap"].buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(laps, 300, "{program:?}");
        assert_eq!(seen.samples.len(), 1);
        assert!(seen.histograms["lap"].buckets.is_sorted());
    }
}

#[test]
fn exact_laps_give_one_sample_with_counters() {
    for program in [LOOP_SOCKET, THREAD_SOCKET, TASK_SOCKET] {
        let laps = ["--hops", "10", "--iters", "7", "--warmups", "2", "--placement", "one-cpu"];
        let seen = observe(&[program], &laps);
        assert_eq!(seen.samples.len(), 1);
        assert_eq!(seen.samples[0].operations, 70);
        assert_eq!(seen.whole_run.unwrap().operations, 90);
        for counter in ["user_ns", "system_ns", "voluntary_switches", "involuntary_switches"] {
            assert!(seen.samples[0].counters.contains_key(counter), "{program:?} {counter}");
        }
        assert_eq!(seen.parameters["hops"], 10);
        assert_eq!(seen.placement, "one-cpu");
    }
}

#[test]
fn a_thread_switches_once_per_hop_and_a_task_does_not() {
    let laps = ["--hops", "50", "--iters", "20", "--placement", "one-cpu"];
    let switches = |program: &str| observe(&[program], &laps).samples[0].counters["voluntary_switches"];
    // The first lap may find threads that have not come to their first read yet.
    assert!(switches(THREAD_SOCKET) >= 50 * 19, "every hop blocks one thread");
    assert!(switches(TASK_SOCKET) < 50, "the tasks share one thread");
    assert!(switches(LOOP_SOCKET) < 50, "the loop never blocks");
}

#[test]
fn a_mutex_held_across_a_yield_switches_threads_and_not_tasks() {
    let laps = ["--members", "2", "--each", "100", "--iters", "10", "--placement", "one-cpu"];
    let counters = |program: &[&str]| observe(program, &laps).samples[0].counters.clone();
    let threads = counters(&[env!("CARGO_BIN_EXE_lock-across-thread")]);
    assert!(threads["voluntary_switches"] + threads["involuntary_switches"] >= 1000, "{threads:?}");
    let tasks = counters(&[env!("CARGO_BIN_EXE_lock-across-tokio"), "--runtime", "current"]);
    assert!(tasks["voluntary_switches"] < 100, "{tasks:?}");
}

#[test]
fn a_timeout_that_fires_is_late_and_no_wait_is_lost() {
    for program in [env!("CARGO_BIN_EXE_expire-thread"), env!("CARGO_BIN_EXE_expire-task")] {
        let seen = observe(&[program], &["--iters", "20", "--placement", "one-cpu"]);
        assert_eq!(seen.samples[0].operations, 20);
        assert!(seen.samples[0].elapsed_ns > 0, "{program}: {seen:?}");
    }
}

#[test]
fn criterion_gives_as_many_samples_as_asked_for() {
    let few = ["--hops", "4", "--warm-up-ms", "1", "--measurement-ms", "5", "--samples", "12"];
    assert_eq!(observe(&[LOOP_SOCKET], &few).samples.len(), 12);
}

#[test]
fn a_cell_that_cannot_be_run_says_why_and_is_no_failure() {
    let limited = |limit: &str| {
        let command = format!("{limit} {THREAD_SOCKET} --json --hops 500 --placement two-cpus");
        seen(Command::new("sh").args(["-c", &command]).output().unwrap())
    };
    let restricted = limited("exec taskset -c 0");
    assert!(restricted.samples.is_empty());
    assert_eq!(restricted.unavailable["elapsed"], "placement two-cpus needs 2 CPUs, and this process may use 1");
    if std::thread::available_parallelism().unwrap().get() > 1 {
        let few = limited("ulimit -n 256;");
        assert!(few.unavailable["elapsed"].contains("hard limit is 256"), "{:?}", few.unavailable);
    }
}

#[test]
fn two_cpus_means_that_neighbours_are_on_different_ones() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return skipped("there is one CPU");
    }
    let command = "grep -h Cpus_allowed_list /proc/{pid}/task/*/status | sort | uniq -c";
    for (program, participants) in [(THREAD_SOCKET, 8), (THREAD_CHANNEL, 8), (CALL_THREAD, 2)] {
        let hops: &[&str] = if participants == 8 { &["--hops", "8"] } else { &[] };
        let output = run(&[program], &[&["--once", "--placement", "two-cpus", "--command", command], hops].concat());
        let counts: Vec<String> = String::from_utf8_lossy(&output.stderr)
            .lines()
            .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
            .collect();
        assert_eq!(counts, [(participants / 2).to_string(), (participants / 2).to_string()], "{program:?}: {output:?}");
    }
}

#[test]
fn a_ring_of_processes_has_one_for_each_participant_and_leaves_none_behind() {
    // The driver and those that it has started, among which the shell itself is none.
    let command = "for one in {pid} $(cat /proc/{pid}/task/{pid}/children); do \
                   [ $one = $$ ] || echo $one $(grep Cpus_allowed_list /proc/$one/status); done";
    let cpus = std::thread::available_parallelism().unwrap().get();
    for (placement, places) in [("one-cpu", 1), ("free", 1), ("two-cpus", 2)] {
        if places > cpus {
            return skipped("there is one CPU");
        }
        let flags = ["--hops", "8", "--json", "--placement", placement, "--command", command];
        let output = run(&[PROCESS_SOCKET], &flags);
        let (seen, said) = (
            serde_json::from_slice::<Observation>(&output.stdout).unwrap(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert!(seen.measures["elapsed"].values[0] > 10.0, "{seen:?}");
        let (mut of_place, mut left) = (BTreeMap::new(), Vec::new());
        for line in said.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            *of_place.entry(words[2]).or_insert(0) += 1;
            left.extend(Path::new("/proc").join(words[0]).exists().then_some(line));
        }
        assert_eq!(of_place.into_values().collect::<Vec<_>>(), vec![8 / places; places], "{placement}: {said}");
        assert!(left.is_empty(), "{placement}: {left:?}");
    }
}

#[test]
fn a_file_is_read_in_pieces_of_any_size_and_number() {
    for (program, flags, pieces) in [
        (READ_THREAD, ["--read-bytes", "1048576"], 1),
        (READ_PIECES, ["--read-bytes", "65536"], 16),
        // What is left over at the end is not read.
        (READ_THREAD, ["--read-bytes", "300001"], 3),
        // Nor is 256 so many times a hundred.
        (READ_URING, ["--at-once", "100"], 256),
    ] {
        let output = run(&[program], &[&flags[..], &["--once"]].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let refused = program == READ_URING && said.contains("io_uring");
        assert!(
            said == format!("{pieces} operations done and counted\n") || refused,
            "{program} {flags:?}: {output:?}"
        );
    }
}

#[test]
fn nothing_is_left_of_a_file_that_was_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("read");
    std::fs::create_dir_all(&folder).unwrap();
    let output = Command::new(READ_PIECES).args(["--once", "--command", "exit 1"]).env("TMPDIR", &folder).output();
    assert!(!output.unwrap().status.success(), "it has failed on its way");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_folder_without_room_for_the_file_is_named_with_the_cure() {
    let full = std::env::temp_dir();
    // Not even root can make a file in /proc. A limit on the size of files stands for a disk that is full.
    for (folder, limit) in
        [(Path::new("/proc"), ""), (Path::new("/proc/none"), ""), (&full, "trap '' XFSZ; ulimit -f 8;")]
    {
        for program in [READ_THREAD, READ_PIECES, READ_URING] {
            let command = format!("{limit} exec {program} --once");
            let output = Command::new("sh").args(["-c", &command]).env("TMPDIR", folder).output().unwrap();
            assert!(!output.status.success(), "{program}: {output:?}");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            let path = folder.join("cached-");
            assert!(message.contains(path.to_str().unwrap()), "{program}: {message}");
            assert!(message.contains("set TMPDIR to a folder that has room and is writable"), "{program}: {message}");
        }
    }
}

#[test]
fn a_tool_of_others_gives_a_time_or_says_that_it_is_not_installed() {
    for program in programs().into_iter().filter(Program::is_tool) {
        let (seen, tool) = (program.observe(&["--placement", "one-cpu"]), &program.name);
        match seen.unavailable.get("elapsed") {
            Some(reason) => {
                assert!(reason.contains("is not installed; on Debian: apt-get install"), "{tool}: {reason}")
            }
            None => assert!(seen.measures["elapsed"].values[0] > 10.0, "{tool}: {seen:?}"),
        }
    }
}

#[test]
fn a_ring_that_the_limits_forbid_is_not_begun() {
    let seen = observe(&[THREAD_CHANNEL], &["--hops", "1000000"]);
    let reason = &seen.unavailable["elapsed"];
    assert!(reason.starts_with("it needs 999999 threads, and ") && reason.contains("allows for"), "{reason}");
}

#[test]
fn bad_flags_are_refused_with_the_reason() {
    for (flags, reason) in [
        (["--hops", "1"], "2..=1000000"),
        (["--placement", "moon"], "one-cpu, two-cpus, free"),
        (["--hop", "3"], "similar argument exists: '--hops'"),
        (["--warmups", "3"], "--iters"),
    ] {
        let output = run(&[THREAD_SOCKET], &flags);
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_command_sees_the_program_while_everything_is_alive() {
    let command = "grep Threads /proc/{pid}/status";
    let output = run(&[THREAD_SOCKET], &["--hops", "16", "--once", "--command", command]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("Threads:\t16"), "{output:?}");
    let failing = run(&[THREAD_SOCKET], &["--hops", "16", "--once", "--command", "exit 3"]);
    assert!(!failing.status.success());
}
