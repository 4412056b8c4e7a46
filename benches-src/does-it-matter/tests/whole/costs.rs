//! Every program that measures a part of a request is run as a reader would run it, and its work is checked. Each checks the kind of its
//! handshakes itself, and that every number, byte or document came back.

use std::process::Command;

use crate::support::{observe, run};

/// Each with its parameters, and operations in one lap.
const PROGRAMS: [(&[&str], u64); 22] = [
    (&[env!("CARGO_BIN_EXE_cost-syscall")], 1),
    (&[env!("CARGO_BIN_EXE_cost-alloc"), "--bytes", "64"], 1),
    (&[env!("CARGO_BIN_EXE_cost-alloc"), "--bytes", "5000"], 1),
    (&[env!("CARGO_BIN_EXE_cost-http")], 1),
    (&[env!("CARGO_BIN_EXE_cost-sha")], 1),
    (&[env!("CARGO_BIN_EXE_cost-json-read"), "--bytes", "500"], 1),
    (&[env!("CARGO_BIN_EXE_cost-json-read"), "--bytes", "5000"], 1),
    (&[env!("CARGO_BIN_EXE_cost-json-read"), "--bytes", "50000"], 1),
    (&[env!("CARGO_BIN_EXE_cost-json-write"), "--bytes", "500"], 1),
    (&[env!("CARGO_BIN_EXE_cost-json-write"), "--bytes", "5000"], 1),
    (&[env!("CARGO_BIN_EXE_cost-json-write"), "--bytes", "50000"], 1),
    (&[env!("CARGO_BIN_EXE_cost-tls-full")], 1),
    (&[env!("CARGO_BIN_EXE_cost-tls-full-server")], 1),
    (&[env!("CARGO_BIN_EXE_cost-tls-resumed-server")], 1),
    (&[env!("CARGO_BIN_EXE_cost-tls-record")], 1),
    (&[env!("CARGO_BIN_EXE_cost-thread-switch"), "--placement", "two-cpus"], 2),
    (&[env!("CARGO_BIN_EXE_cost-thread-switch")], 2),
    (&[env!("CARGO_BIN_EXE_cost-task-switch")], 2),
    (&[env!("CARGO_BIN_EXE_cost-thread-socket")], 2),
    (&[env!("CARGO_BIN_EXE_cost-task-socket")], 2),
    (&[env!("CARGO_BIN_EXE_cost-thread-spawn")], 1),
    (&[env!("CARGO_BIN_EXE_cost-task-spawn")], 1),
];

#[test]
fn every_part_of_a_request_is_done_as_often_as_was_asked() {
    for (program, per_lap) in PROGRAMS {
        let seen = observe(program, &["--iters", "3", "--warmups", "2"]);
        assert_eq!(seen.samples[0].operations, 3 * per_lap, "{program:?}");
        assert!(seen.samples[0].elapsed_ns > 0, "{program:?}");
    }
}

#[test]
fn the_servers_part_of_a_handshake_is_less_than_both_sides() {
    let once = |program| observe(&[program], &["--iters", "100", "--placement", "one-cpu"]).samples[0].elapsed_ns;
    // Other tests run beside this one: the least of several is disturbed least.
    let handshake = |program| (0..5).map(|_| once(program)).min();
    let both = handshake(env!("CARGO_BIN_EXE_cost-tls-full"));
    assert!(handshake(env!("CARGO_BIN_EXE_cost-tls-full-server")) < both);
}

#[test]
fn the_null_system_call_enters_the_kernel_each_time() {
    let Ok(strace) = Command::new("strace").arg("-V").output() else {
        return eprintln!("skipped: strace is not installed");
    };
    assert!(strace.status.success());
    let program = env!("CARGO_BIN_EXE_cost-syscall");
    let output =
        run(&["strace", "-c", "-e", "trace=getppid", "-U", "calls,name", program], &["--iters", "40", "--quiet"]);
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = summary.lines().find(|line| line.ends_with("getppid")).unwrap_or_else(|| panic!("{summary}"));
    // Once more when it is set up.
    assert_eq!(line.split_whitespace().next(), Some("41"));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let output = run(&[env!("CARGO_BIN_EXE_cost-json-read"), "--bytes", "0"], &["--once"]);
    assert_eq!(output.status.code(), Some(2));
}
