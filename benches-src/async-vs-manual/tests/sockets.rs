//! The servers on sockets are run as a reader would run them: every line comes back, and each server counts the same answers as the
//! clients.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use support::{observe, run, seen};

const SERVERS: [&str; 6] = [
    env!("CARGO_BIN_EXE_echo-mio"),
    env!("CARGO_BIN_EXE_echo-tokio"),
    env!("CARGO_BIN_EXE_echo-executor"),
    env!("CARGO_BIN_EXE_echo-thread"),
    env!("CARGO_BIN_EXE_echo-oneshot"),
    env!("CARGO_BIN_EXE_echo-level"),
];

#[test]
fn every_line_comes_back() {
    for program in SERVERS {
        for placement in ["one-cpu", "two-cpus", "free"] {
            for connections in ["1", "16", "200"] {
                let flags = ["--connections", connections, "--placement", placement, "--iters", "3", "--warmups", "1"];
                let seen = observe(&[program], &flags);
                assert_eq!(
                    seen.samples[0].operations,
                    3 * connections.parse::<u64>().unwrap(),
                    "{program} {placement}"
                );
            }
        }
    }
}

#[test]
fn more_connections_than_descriptors_are_unavailable_and_not_tried() {
    for program in SERVERS {
        let shell = format!("ulimit -n 100; exec {program} --connections 200 --iters 1 --json");
        let seen = seen(run(&["sh"], &["-c", &shell]));
        assert!(seen.samples.is_empty());
        assert!(seen.unavailable["elapsed"].contains("descriptors"), "{:?}", seen.unavailable);
    }
}
