//! Every program of the chapter is run as a reader would run it, and its work is checked.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::process::Command;

use support::{each_program_does_what_it_says, observe, run, skipped};

/// Those that create units in batches, each with what makes it another program inside.
const PROGRAMS: [&[&str]; 11] = [
    &[env!("CARGO_BIN_EXE_spawn-thread"), "--stack-bytes", "65536"],
    &[env!("CARGO_BIN_EXE_spawn-pthread"), "--stack-bytes", "65536"],
    &[env!("CARGO_BIN_EXE_spawn-pthread-own-stack"), "--stack-bytes", "65536"],
    &[env!("CARGO_BIN_EXE_spawn-tokio")],
    &[env!("CARGO_BIN_EXE_spawn-tokio"), "--runtime", "current"],
    &[env!("CARGO_BIN_EXE_spawn-tokio"), "--from", "outside"],
    &[env!("CARGO_BIN_EXE_spawn-tokio"), "--runtime", "current", "--from", "outside"],
    &[env!("CARGO_BIN_EXE_spawn-smol")],
    &[env!("CARGO_BIN_EXE_spawn-executor")],
    &[env!("CARGO_BIN_EXE_box-future")],
    &[env!("CARGO_BIN_EXE_new-coroutine"), "--stack-bytes", "65536"],
];

#[test]
fn each_program_does_its_work_once_and_says_what_it_has() {
    each_program_does_what_it_says(|_| Some(&[]));
}

#[test]
fn every_unit_of_every_batch_is_created_and_ends() {
    for program in PROGRAMS {
        for placement in ["one-cpu", "free"] {
            for until in ["created", "started", "joined"] {
                let flags =
                    ["--batch", "7", "--until", until, "--iters", "3", "--warmups", "2", "--placement", placement];
                let seen = observe(program, &flags);
                assert_eq!(seen.samples[0].operations, 21, "{program:?} {flags:?}");
                assert!(seen.samples[0].elapsed_ns > 0);
            }
        }
    }
}

#[test]
fn the_first_instructions_of_single_units_have_a_distribution() {
    for program in PROGRAMS {
        let seen = observe(program, &["--until", "started", "--histogram", "50", "--warmups", "5"]);
        let count: u64 = seen.histograms["lap"].buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(count, 50, "{program:?}");
    }
}

#[test]
fn what_the_machine_cannot_hold_is_unavailable_and_not_tried() {
    let seen = observe(&[env!("CARGO_BIN_EXE_spawn-thread")], &["--batch", "1000000", "--iters", "1"]);
    assert!(seen.samples.is_empty());
    assert!(seen.unavailable["elapsed"].contains("1000000 threads"), "{:?}", seen.unavailable);
}

#[test]
fn a_stack_that_cannot_be_had_is_an_error_that_says_so() {
    let output = run(&[env!("CARGO_BIN_EXE_spawn-thread")], &["--stack-bytes", "1", "--once"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--stack-bytes"));
}

#[test]
fn a_stack_of_any_size_serves_one_batch_after_the_other() {
    let program = [env!("CARGO_BIN_EXE_spawn-pthread-own-stack")];
    for stack_bytes in ["16384", "16385", "2097152"] {
        let seen = observe(&program, &["--stack-bytes", stack_bytes, "--batch", "50", "--once"]);
        assert_eq!(seen.samples[0].operations, 50, "{stack_bytes}");
    }
    let seen = observe(&program, &["--batch", "1000000", "--once"]);
    assert!(seen.unavailable["elapsed"].contains("1000000 threads"), "{:?}", seen.unavailable);
}

#[test]
fn nobody_maps_guards_or_unmaps_a_stack_that_is_there_already() {
    let Ok(strace) = Command::new("strace").arg("-V").output() else {
        return eprintln!("skipped: strace is not installed");
    };
    assert!(strace.status.success());
    // More threads than the C library keeps stacks for.
    const BATCH: [&str; 2] = ["--batch", "60"];
    let of_two_laps = |program| calls_of_two_laps("mmap,mprotect,munmap", program, &BATCH);
    assert_eq!(of_two_laps(env!("CARGO_BIN_EXE_spawn-pthread-own-stack")), 0);
    assert!(of_two_laps(env!("CARGO_BIN_EXE_spawn-pthread")) > 60, "this is how it would show");
}

/// How many more of these system calls three laps make than one.
fn calls_of_two_laps(names: &str, program: &str, flags: &[&str]) -> u64 {
    let calls = |iters| {
        let traced = format!("trace={names}");
        let strace = ["strace", "-f", "-c", "-e", &traced, "-U", "calls,name", program];
        let output = run(&strace, &[flags, &["--quiet", "--iters", iters]].concat());
        let summary = String::from_utf8_lossy(&output.stderr).into_owned();
        // Where there were none, there is no summary.
        let line = summary.lines().find(|line| line.ends_with("total"));
        line.map_or(0, |line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap())
    };
    calls("3") - calls("1")
}

#[test]
fn a_runtime_starts_all_its_workers_at_once_and_the_one_without_workers_no_thread() {
    if Command::new("strace").arg("-V").output().is_err() {
        return skipped("strace is not installed");
    }
    let current = env!("CARGO_BIN_EXE_start-current");
    assert_eq!(calls_of_two_laps("clone,clone3", current, &[]), 0);
    assert_eq!(calls_of_two_laps("epoll_create1", current, &[]), 2, "one for each start");
    assert_eq!(calls_of_two_laps("epoll_create1", current, &["--drivers", "false"]), 0);
    for program in [env!("CARGO_BIN_EXE_start-multi"), env!("CARGO_BIN_EXE_start-pool")] {
        assert_eq!(calls_of_two_laps("clone,clone3", program, &["--workers", "5"]), 10, "{program}");
    }
}

#[test]
fn every_runtime_that_is_started_answers_and_ends() {
    for (program, flags) in [
        (env!("CARGO_BIN_EXE_start-current"), ["--drivers", "true"]),
        (env!("CARGO_BIN_EXE_start-current"), ["--drivers", "false"]),
        (env!("CARGO_BIN_EXE_start-multi"), ["--workers", "1"]),
        (env!("CARGO_BIN_EXE_start-multi"), ["--workers", "16"]),
        (env!("CARGO_BIN_EXE_start-pool"), ["--workers", "1"]),
        (env!("CARGO_BIN_EXE_start-pool"), ["--workers", "16"]),
    ] {
        for placement in ["one-cpu", "free"] {
            let seen = observe(
                &[&[program], &flags[..]].concat(),
                &["--iters", "3", "--warmups", "2", "--placement", placement],
            );
            assert_eq!(seen.samples[0].operations, 3, "{program} {flags:?} {placement}");
            assert!(seen.samples[0].elapsed_ns > 0);
        }
    }
}

#[test]
fn the_tool_that_creates_pthreads_reports_on_it_or_is_not_installed() {
    let seen = observe(&[env!("CARGO_BIN_EXE_tool-stress-pthread")], &["--placement", "free"]);
    match seen.unavailable.get("elapsed") {
        Some(reason) => assert!(reason.contains("stress-ng is not installed"), "{reason}"),
        None => assert!(seen.measures.values().all(|measure| measure.values.iter().all(|value| *value > 0.0))),
    }
}
