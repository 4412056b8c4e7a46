//! Every program of the chapter is run as a reader would run it, and its work is checked: each checks itself that it made exactly the
//! calls that 256 requests need.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::process::Command;

use support::{each_program_does_what_it_says, observe, run};

const SERVERS: [&str; 20] = [
    env!("CARGO_BIN_EXE_manual"),
    env!("CARGO_BIN_EXE_step-beside"),
    env!("CARGO_BIN_EXE_step-table"),
    env!("CARGO_BIN_EXE_step-futures"),
    env!("CARGO_BIN_EXE_step-unsafe"),
    env!("CARGO_BIN_EXE_step-readiness"),
    env!("CARGO_BIN_EXE_step-queue"),
    env!("CARGO_BIN_EXE_step-wakers"),
    env!("CARGO_BIN_EXE_step-original"),
    env!("CARGO_BIN_EXE_nonbox"),
    env!("CARGO_BIN_EXE_callerbox"),
    env!("CARGO_BIN_EXE_large-nonbox"),
    env!("CARGO_BIN_EXE_box"),
    env!("CARGO_BIN_EXE_box-callerbox"),
    env!("CARGO_BIN_EXE_large-box"),
    env!("CARGO_BIN_EXE_box-rc"),
    env!("CARGO_BIN_EXE_box-chkrc"),
    env!("CARGO_BIN_EXE_box-arc"),
    env!("CARGO_BIN_EXE_arc-task"),
    env!("CARGO_BIN_EXE_state-machine"),
];

/// Those that 256 requests need.
const CALLS: [(&str, u64); 6] =
    [("register", 257), ("unregister", 257), ("poll", 258), ("accept", 512), ("read", 512), ("write", 512)];

fn count(server: &str) -> BTreeMap<String, f64> {
    let seen = observe(&[env!("CARGO_BIN_EXE_count-calls")], &["--server", server]);
    seen.measures.into_iter().map(|(name, measure)| (name, measure.values[0])).collect()
}

fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap()
}

#[test]
fn each_program_does_its_work_once_and_says_what_it_has() {
    each_program_does_what_it_says(|_| Some(&[]));
}

#[test]
fn every_server_answers_every_request_whatever_is_added() {
    for program in SERVERS {
        for added in [&["--syscalls", "0"], &["--syscalls", "2"], &["--multiplications", "7"], &["--work", "1"]] {
            let flags = [&added[..], &["--iters", "3", "--warmups", "2", "--placement", "one-cpu"]].concat();
            let seen = observe(&[program], &flags);
            assert_eq!(seen.samples[0].operations, 3 * 256, "{program} {flags:?}");
            let counted = seen.whole_run.unwrap().counters;
            for (call, times) in CALLS {
                assert_eq!(counted[call], 5 * times, "{program} {flags:?}: {call}");
            }
            assert_eq!(counted["network_calls"], 5 * 2308, "{program} {flags:?}");
        }
    }
}

#[test]
fn every_server_makes_the_same_calls() {
    for program in SERVERS {
        let counts = count(name(program));
        for (call, times) in CALLS {
            assert_eq!(counts[call], times as f64, "{program}: {call}");
        }
        assert_eq!(counts["answered"], 256., "{program}");
    }
}

#[test]
fn only_boxes_and_wakers_of_their_own_are_allocated_at_run_time() {
    let each = |server: &str| (count(server)["allocations"] * 256.).round();
    for server in [
        "manual",
        "step-beside",
        "step-table",
        "step-futures",
        "step-unsafe",
        "step-readiness",
        "step-queue",
        "step-wakers",
        "step-original",
        "nonbox",
        "large-nonbox",
        "state-machine",
    ] {
        assert_eq!(each(server), 0., "{server}");
    }
    // Each connection's task, and the one that accepts them.
    for (server, allocations) in
        [("callerbox", 1.), ("box", 1.), ("large-box", 1.), ("arc-task", 1.), ("box-callerbox", 2.)]
    {
        assert_eq!(each(server), 257. * allocations, "{server}");
    }
    for server in ["box-rc", "box-chkrc", "box-arc"] {
        assert_eq!(each(server), 257. * 2., "{server}");
    }
}

#[test]
fn calls_into_the_kernel_are_as_many_as_calls_are_counted() {
    let Ok(strace) = Command::new("strace").arg("-V").output() else {
        return eprintln!("skipped: strace is not installed");
    };
    assert!(strace.status.success());
    let calls = |iters| {
        let flags = [
            "-f",
            "-c",
            "-e",
            "trace=read",
            "-U",
            "calls,name",
            env!("CARGO_BIN_EXE_step-wakers"),
            "--syscalls",
            "1",
            "--quiet",
            "--iters",
            iters,
        ];
        let output = run(&["strace"], &flags);
        let summary = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = summary.lines().find(|line| line.ends_with("read")).unwrap_or_else(|| panic!("{summary}"));
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(calls("3") - calls("1"), 2 * 2308);
}

#[test]
fn bad_parameters_are_refused() {
    let output = run(&[SERVERS[0]], &["--syscalls", "65", "--once"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--syscalls"));
}
