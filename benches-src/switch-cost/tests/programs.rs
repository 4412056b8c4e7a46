//! Every program of the chapter is run as a reader would run it, and its work is checked.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::process::Command;

use support::{observe, run, seen, skipped};

const PROGRAMS: [&[&str]; 5] = [
    &[env!("CARGO_BIN_EXE_loop-socket")],
    &[env!("CARGO_BIN_EXE_thread-socket")],
    &[env!("CARGO_BIN_EXE_task-socket")],
    &[env!("CARGO_BIN_EXE_task-socket"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_loop-epoll")],
];

/// Those whose ring is made of channels, and so of no descriptors.
const CHANNELS: [&[&str]; 9] = [
    &[env!("CARGO_BIN_EXE_loop-channel"), "--capacity", "3"],
    &[env!("CARGO_BIN_EXE_loop-mpsc")],
    &[env!("CARGO_BIN_EXE_loop-slot")],
    &[env!("CARGO_BIN_EXE_thread-channel")],
    &[env!("CARGO_BIN_EXE_thread-channel"), "--capacity", "3"],
    &[env!("CARGO_BIN_EXE_task-channel")],
    &[env!("CARGO_BIN_EXE_task-channel"), "--runtime", "current", "--capacity", "3"],
    &[env!("CARGO_BIN_EXE_executor-channel")],
    &[env!("CARGO_BIN_EXE_executor-mpsc")],
];

/// Rings of other primitives, and in another order.
const RINGS: [&[&str]; 16] = [
    &[env!("CARGO_BIN_EXE_thread-socket-paused"), "--pause-us", "5"],
    &[env!("CARGO_BIN_EXE_loop-pipe")],
    &[env!("CARGO_BIN_EXE_thread-pipe")],
    &[env!("CARGO_BIN_EXE_task-pipe")],
    &[env!("CARGO_BIN_EXE_task-pipe"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_loop-eventfd")],
    &[env!("CARGO_BIN_EXE_thread-eventfd")],
    &[env!("CARGO_BIN_EXE_task-eventfd")],
    &[env!("CARGO_BIN_EXE_task-eventfd"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_loop-park")],
    &[env!("CARGO_BIN_EXE_thread-park")],
    &[env!("CARGO_BIN_EXE_task-notify")],
    &[env!("CARGO_BIN_EXE_task-notify"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_uring-socket")],
    &[env!("CARGO_BIN_EXE_thread-socket"), "--order", "shuffled"],
    &[env!("CARGO_BIN_EXE_task-channel"), "--order", "shuffled"],
];

/// Those that take all parameters of streams.
const STREAMS: [&[&str]; 6] = [
    &[env!("CARGO_BIN_EXE_loop-socket")],
    &[env!("CARGO_BIN_EXE_loop-epoll")],
    &[env!("CARGO_BIN_EXE_thread-socket")],
    &[env!("CARGO_BIN_EXE_task-socket")],
    &[env!("CARGO_BIN_EXE_task-socket"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_uring-socket")],
];

/// Those whose lap is one operation.
const CALLS: [&[&str]; 7] = [
    &[env!("CARGO_BIN_EXE_call-function")],
    &[env!("CARGO_BIN_EXE_call-task")],
    &[env!("CARGO_BIN_EXE_call-thread")],
    &[env!("CARGO_BIN_EXE_call-coroutine")],
    &[env!("CARGO_BIN_EXE_loop-readiness")],
    &[env!("CARGO_BIN_EXE_stall-thread")],
    &[env!("CARGO_BIN_EXE_stall-task"), "--busy-ms", "1"],
];

/// Those whose members all work at the same time.
const CROWDS: [&[&str]; 6] = [
    &[env!("CARGO_BIN_EXE_yield-thread")],
    &[env!("CARGO_BIN_EXE_yield-task")],
    &[env!("CARGO_BIN_EXE_yield-task"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_pairs-thread")],
    &[env!("CARGO_BIN_EXE_pairs-task")],
    &[env!("CARGO_BIN_EXE_pairs-task"), "--runtime", "current"],
];

#[test]
fn each_program_does_its_work_once_and_says_so() {
    for program in PROGRAMS.iter().chain(&CHANNELS).chain(&RINGS) {
        for placement in ["one-cpu", "free"] {
            let output = run(program, &["--once", "--hops", "16", "--placement", placement]);
            assert_eq!(String::from_utf8_lossy(&output.stdout), "16 operations done and counted\n", "{program:?}");
        }
    }
}

#[test]
fn each_call_is_made_once_and_counted() {
    for program in CALLS {
        let output = run(program, &["--once", "--placement", "one-cpu"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1 operations done and counted\n", "{program:?}");
    }
}

#[test]
fn a_switch_to_a_coroutine_and_back_is_two() {
    let seen = observe(&[env!("CARGO_BIN_EXE_coroutine-switch")], &["--iters", "5"]);
    assert_eq!(seen.samples[0].operations, 10);
}

#[test]
fn a_chase_comes_back_after_every_line_and_no_sooner() {
    let seen = observe(&[env!("CARGO_BIN_EXE_chase-memory")], &["--bytes", "65536", "--iters", "3", "--warmups", "1"]);
    assert_eq!(seen.samples[0].operations, 3 * 65_536 / 64);
}

#[test]
fn a_crowd_does_its_work_together_and_all_of_it_is_counted() {
    for program in CROWDS {
        for placement in ["one-cpu", "free"] {
            let crowd = ["--members", "3", "--each", "7", "--iters", "4", "--warmups", "1", "--placement", placement];
            assert_eq!(observe(program, &crowd).samples[0].operations, 4 * 3 * 7, "{program:?}");
        }
    }
}

#[test]
fn chains_buffers_and_working_sets_change_nothing_of_what_is_counted() {
    let odd = ["--hops", "5", "--chains", "3", "--read-bytes", "2", "--touch-bytes", "4096", "--order", "shuffled"];
    for program in STREAMS {
        for placement in ["one-cpu", "two-cpus", "free"] {
            let laps = ["--iters", "4", "--warmups", "1", "--placement", placement];
            let seen = observe(program, &[&odd[..], &laps].concat());
            if placement == "two-cpus" && seen.samples.is_empty() {
                continue; // A machine of one CPU says so.
            }
            assert_eq!(seen.samples[0].operations, 5 * 3 * 4, "{program:?}");
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
fn many_laps_in_several_samples_are_all_counted() {
    let few = ["--warm-up-ms", "1", "--measurement-ms", "5"];
    for program in PROGRAMS.iter().chain(&CHANNELS).chain(&RINGS) {
        let seen = observe(program, &[&few[..], &["--hops", "7"]].concat());
        assert_eq!(seen.samples.len(), 10, "{program:?}");
        assert!(seen.samples.iter().all(|sample| sample.operations % 7 == 0 && sample.operations > 0));
    }
    for program in CALLS {
        assert_eq!(observe(program, &few).samples.len(), 10, "{program:?}");
    }
}

#[test]
fn single_laps_make_a_histogram() {
    for program in [PROGRAMS[1], PROGRAMS[3], CHANNELS[7], CALLS[1]] {
        let hops: &[&str] = if program == CALLS[1] { &[] } else { &["--hops", "2"] };
        let seen = observe(program, &[&["--histogram", "300", "--warmups", "10"], hops].concat());
        let laps: u64 = seen.histograms["lap"].buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(laps, 300, "{program:?}");
        assert_eq!(seen.samples.len(), 1);
        assert!(seen.histograms["lap"].buckets.is_sorted());
    }
}

#[test]
fn exact_laps_give_one_sample_with_counters() {
    for program in PROGRAMS {
        let seen = observe(program, &["--hops", "10", "--iters", "7", "--warmups", "2", "--placement", "one-cpu"]);
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
    let switches = |program: &[&str]| observe(program, &laps).samples[0].counters["voluntary_switches"];
    // The first lap may find threads that have not come to their first read yet.
    assert!(switches(PROGRAMS[1]) >= 50 * 19, "every hop blocks one thread");
    assert!(switches(PROGRAMS[3]) < 50, "the tasks share one thread");
    assert!(switches(PROGRAMS[0]) < 50, "the loop never blocks");
}

#[test]
fn criterion_gives_as_many_samples_as_asked_for() {
    let seen = observe(PROGRAMS[0], &["--hops", "4", "--warm-up-ms", "1", "--measurement-ms", "5", "--samples", "12"]);
    assert_eq!(seen.samples.len(), 12);
    assert_eq!(seen.program, "switch-cost/loop-socket");
}

#[test]
fn a_cell_that_cannot_be_run_says_why_and_is_no_failure() {
    let limited = |limit: &str| {
        let command = format!("{limit} {} --json --hops 500 --placement two-cpus", PROGRAMS[1][0]);
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
    for (program, participants) in [(PROGRAMS[1], 8), (CHANNELS[3], 8), (CALLS[2], 2)] {
        let hops: &[&str] = if participants == 8 { &["--hops", "8"] } else { &[] };
        let output = run(program, &[&["--once", "--placement", "two-cpus", "--command", command], hops].concat());
        let counts: Vec<String> = String::from_utf8_lossy(&output.stderr)
            .lines()
            .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
            .collect();
        assert_eq!(counts, [(participants / 2).to_string(), (participants / 2).to_string()], "{program:?}: {output:?}");
    }
}

#[test]
fn a_tool_of_others_gives_a_time_or_says_that_it_is_not_installed() {
    for tool in [
        env!("CARGO_BIN_EXE_tool-perf-pipe"),
        env!("CARGO_BIN_EXE_tool-stress-switch"),
        env!("CARGO_BIN_EXE_tool-hackbench"),
        env!("CARGO_BIN_EXE_tool-cyclictest"),
    ] {
        let seen = observe(&[tool], &["--placement", "one-cpu"]);
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
    let seen = observe(&[env!("CARGO_BIN_EXE_thread-channel")], &["--hops", "1000000"]);
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
        let output = run(PROGRAMS[1], &flags);
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_command_sees_the_program_while_everything_is_alive() {
    let command = "grep Threads /proc/{pid}/status";
    let output = run(PROGRAMS[1], &["--hops", "16", "--once", "--command", command]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("Threads:\t16"), "{output:?}");
    let failing = run(PROGRAMS[1], &["--hops", "16", "--once", "--command", "exit 3"]);
    assert!(!failing.status.success());
}
