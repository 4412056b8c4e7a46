//! The servers are run as a reader would run them, loaded and mistreated: every one does the same, answers what can be answered, and
//! ends with a clear error where a result would be wrong.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::running::{Running, each, ends_soon, free_port, soon, with_few_descriptors};
use crate::support::{observe, run};
use does_it_matter::http::{LARGEST_BODY, request};
use does_it_matter::order::Order;
use observation::Observation;
use rustix::process::{Pid, Signal, kill_process};

const SERVERS: [&str; 3] =
    [env!("CARGO_BIN_EXE_serve-thread"), env!("CARGO_BIN_EXE_serve-tokio"), env!("CARGO_BIN_EXE_serve-tokio-plain")];
/// Those that ask another service before they answer have the same clients.
const ALL: [&str; 6] = [
    SERVERS[0],
    SERVERS[1],
    SERVERS[2],
    env!("CARGO_BIN_EXE_ask-thread"),
    env!("CARGO_BIN_EXE_ask-pool"),
    env!("CARGO_BIN_EXE_ask-tokio"),
];
const NOTHING: &str = env!("CARGO_BIN_EXE_serve-nothing");
const LOAD: &str = env!("CARGO_BIN_EXE_load");

#[test]
fn every_server_is_loaded_and_measured() {
    for program in SERVERS.iter().chain([&NOTHING]) {
        for flags in [&["--connections", "1"][..], &["--connections", "20", "--idle", "150", "--json-bytes", "500"]] {
            let seen = observe(&[program], &[flags, &["--milliseconds", "60", "--common-rate", "500"]].concat());
            for measure in ["saturation_ns", "rate", "cpu_ns", "load_cpu_share", "switches", "user_memory_bytes"] {
                assert!(seen.measures[measure].values[0] >= 0., "{program}: {measure}");
            }
            for latency in ["half_p50_ns", "most_p99_ns", "common_p999_ns"] {
                let known = seen.measures.contains_key(latency) != seen.unavailable.contains_key(latency);
                assert!(known, "{program}: {latency} is neither measured nor unavailable");
            }
            let connections = if flags.len() == 2 { 1. } else { 170. };
            assert_eq!(seen.measures["connections"].values, [connections], "{program}");
            assert!(seen.unavailable["half_p999_ns"].contains("10000"), "{:?}", seen.unavailable);
        }
    }
}

#[test]
fn a_generator_that_spins_is_busier_and_no_reason_to_doubt() {
    let flags = ["--connections", "1", "--milliseconds", "60", "--load-spins"];
    for program in SERVERS.iter().chain([&NOTHING]) {
        let [sleeping, spinning] = ["false", "true"].map(|spins| observe(&[program], &[&flags[..], &[spins]].concat()));
        let share = |seen: &Observation| seen.measures["load_cpu_share"].values[0];
        assert!(share(&spinning) > share(&sleeping), "{program}: {spinning:?} {sleeping:?}");
        assert!(!spinning.doubts.iter().any(|doubt| doubt.contains("busier than half")), "{:?}", spinning.doubts);
    }
}

#[test]
fn every_server_is_loaded_through_tls_too() {
    for program in SERVERS {
        let flags = ["--tls", "true", "--connections", "3", "--idle", "5", "--milliseconds", "60"];
        let seen = observe(&[program], &flags);
        assert!(seen.measures["rate"].values[0] > 0., "{program}");
        let long = observe(&[program], &[&flags[..], &["--json-bytes", "100000"]].concat());
        assert_eq!(
            long.measures["connections"].values,
            [8.],
            "{program}: records of TLS are shorter than such an answer"
        );
    }
    let seen = observe(&[NOTHING], &["--tls", "true"]);
    assert!(seen.unavailable["elapsed"].contains("does not encrypt"));
}

#[test]
fn the_generator_loads_a_server_that_runs_already() {
    for program in SERVERS {
        let server = Running::start(program);
        let address = format!("127.0.0.1:{}", server.port);
        let seen = observe(&[LOAD], &["--address", &address, "--connections", "7", "--milliseconds", "50"]);
        assert!(seen.measures["rate"].values[0] > 0.);
        assert!(!seen.measures.contains_key("cpu_ns"), "nothing is read of a server elsewhere");
    }
}

#[test]
fn the_generator_trusts_the_certificate_that_a_server_wrote_and_no_other() {
    for program in SERVERS {
        let paths = ["its-own.der", "another.der"].map(|name| format!("{}/{name}", env!("CARGO_TARGET_TMPDIR")));
        let paths = [0, 1].map(|at| paths[at].as_str());
        let servers = paths.map(|path| {
            let _ = fs::remove_file(path);
            Running::start_with(program, &["--tls", "true", "--root", path])
        });
        let address = format!("127.0.0.1:{}", servers[0].port);
        let flags = ["--address", &address, "--connections", "3", "--milliseconds", "50", "--root"];
        let seen = observe(&[LOAD], &[&flags[..], &paths[..1]].concat());
        assert!(seen.measures["rate"].values[0] > 0.);
        let distrusted = run(&[LOAD], &[&flags[..], &paths[1..]].concat());
        assert!(!distrusted.status.success());
        let error = String::from_utf8_lossy(&distrusted.stderr).into_owned();
        assert!(error.contains("certificate"), "{error}");
        let plain = run(&[program], &["--root", paths[0]]);
        assert!(String::from_utf8_lossy(&plain.stderr).contains("needs --tls true"));
    }
    let nowhere = run(&[LOAD], &["--root", "/nonexistent"]);
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("cannot read /nonexistent"));
}

#[test]
fn a_connection_that_waits_holds_no_buffers_if_they_are_lent() {
    for program in [SERVERS[0], SERVERS[2]] {
        // The least of several, since on a busy machine more are lent at once, and stay in the stock.
        let [lent, own] = ["lent", "own"].map(|buffers| {
            let flags = ["--buffers", buffers, "--connections", "5", "--idle", "100", "--milliseconds", "40"];
            let held = [(); 3].map(|()| observe(&[program], &flags).measures["user_memory_bytes"].values[0]);
            held.into_iter().fold(f64::INFINITY, f64::min)
        });
        // The order lies in one of them, and the answer in the other. Half a buffer less, for as many as were lent at once
        // stay in the stock, and the busier the machine the more they are.
        assert!(own - lent > 6_144., "{program}: {lent} and {own} bytes");
    }
}

#[test]
fn more_load_than_can_be_answered_ends_in_time_and_leaves_no_latency() {
    let flags = ["--connections", "4", "--milliseconds", "50", "--common-rate", "4000000"];
    let seen = observe(&[SERVERS[0]], &flags);
    assert!(seen.unavailable["common_p50_ns"].contains("not even sent"), "{:?}", seen.unavailable);
}

#[test]
fn a_port_in_use_is_an_error_that_names_it() {
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    for program in ALL {
        let output = run(&[program], &["--port", &port]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(error.contains(&format!("cannot listen on port {port}")), "{error}");
    }
}

#[test]
fn where_nobody_listens_the_generator_says_so() {
    let port = free_port();
    let output = run(&[LOAD], &["--address", &format!("127.0.0.1:{port}")]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("nobody answers at 127.0.0.1:{port}")));
}

#[test]
fn where_descriptors_are_few_there_are_fewer_connections_and_a_doubt() {
    for program in SERVERS {
        let seen = with_few_descriptors(program, "--connections 20 --idle 200 --milliseconds 40");
        assert_eq!(seen.measures["connections"].values, [28.]);
        assert!(seen.doubts.iter().any(|doubt| doubt.contains("28 of 220")), "{:?}", seen.doubts);
    }
}

#[test]
fn one_cpu_for_both_is_unavailable() {
    for program in SERVERS {
        let seen = observe(&[program], &["--placement", "one-cpu"]);
        assert!(seen.unavailable["elapsed"].contains("CPU of its own"));
    }
}

#[test]
fn a_server_that_is_killed_ends_the_generator() {
    for program in SERVERS {
        let mut server = Running::start(program);
        let flags = ["--address", &format!("127.0.0.1:{}", server.port), "--milliseconds", "20000"];
        let load = Command::new(LOAD).args(flags).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        server.child.kill().unwrap();
        let output = ends_soon(load);
        assert!(!output.status.success());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("the server closed") || error.contains("the server does not"), "{error}");
    }
}

#[test]
fn a_generator_that_is_killed_ends_the_measurement() {
    for program in SERVERS {
        let mut command = Command::new(program);
        let server = command.args(["--milliseconds", "20000"]).stderr(Stdio::piped()).stdout(Stdio::piped());
        let server = server.spawn().unwrap();
        let mut load = None;
        soon("no load generator was started", || {
            load = child_of(server.id());
            load.is_some()
        });
        std::thread::sleep(Duration::from_millis(300));
        kill_process(load.unwrap(), Signal::KILL).unwrap();
        let output = ends_soon(server);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(error.contains("the load generator ended (signal: 9"), "{error}");
    }
}

/// The process that another has started.
fn child_of(parent: u32) -> Option<Pid> {
    let started_by =
        |status: &str| status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok());
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        if started_by(&status) == Some(parent) { Pid::from_raw(pid) } else { None }
    })
}

#[test]
fn what_is_malformed_is_refused_and_the_server_lives_on() {
    let json = Order::of_bytes(3, 500).to_json();
    for (program, server) in each(&ALL) {
        let mut other = server.connect();
        for (bytes, status) in [
            (&b"\0\0 nonsense\r\n\r\n"[..], 400),
            (b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: many\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\nno order", 400),
            (b"POST / HTTP/1.1\r\nhost: a\r\n\r\n", 411),
        ] {
            let answer = server.refusal(bytes);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{program}: {answer:?}");
            server.answers(&mut other, &json);
        }
        server.answers(&mut server.connect(), &json);
    }
}

#[test]
fn a_body_that_is_too_long_is_refused_before_it_is_sent() {
    for (program, server) in each(&ALL) {
        let head = |bytes| format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {bytes}\r\n\r\n");
        for bytes in [LARGEST_BODY as u64 + 1, u64::MAX / 2] {
            let answer = server.refusal(head(bytes).as_bytes());
            assert!(answer.starts_with("HTTP/1.1 413 "), "{program}: {answer:?}");
        }
        let long = Order::of_bytes(1, 30_000).to_json();
        server.answers(&mut server.connect(), &long);
    }
}

#[test]
fn a_slow_client_is_answered_and_delays_nobody() {
    let json = Order::of_bytes(4, 500).to_json();
    for (_, server) in each(&ALL) {
        let (mut slow, mut other) = (server.connect(), server.connect());
        for (index, byte) in request(&json).iter().enumerate() {
            slow.write_all(&[*byte]).unwrap();
            if index % 50 == 0 {
                server.answers(&mut other, &json);
            }
        }
        server.has_answered(&mut slow, &json);
    }
}

#[test]
fn a_client_that_leaves_in_the_middle_takes_nobody_with_it() {
    let json = Order::of_bytes(5, 500).to_json();
    for (_, server) in each(&ALL) {
        let mut leaving = server.connect();
        leaving.write_all(&request(&json)[..300]).unwrap();
        drop(leaving);
        let mut closing = server.connect();
        closing.write_all(&request(&json)[..300]).unwrap();
        closing.shutdown(std::net::Shutdown::Write).unwrap();
        match closing.read(&mut [0; 64]) {
            Ok(0) => {}
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        server.answers(&mut server.connect(), &json);
    }
}

/// What the page says of these servers, so that it goes on being so, or is said no more.
#[test]
fn the_small_parser_takes_what_hyper_refuses() {
    let json = Order::of_bytes(1, 500).to_json();
    let ask = |program: &str, first: &str, headers: &str| {
        let head = format!("{first} /orders HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
        Running::start(program).refusal(&[head.as_bytes(), &json].concat())
    };
    let length = format!("content-length: {}\r\n", json.len());
    let [threads, hyper, plain] = SERVERS;
    for program in [threads, plain, hyper] {
        let careful = program == hyper;
        let both = ask(program, "POST", &format!("transfer-encoding: chunked\r\n{length}"));
        assert_eq!(both.starts_with("HTTP/1.1 200"), !careful, "{program}: {both}");
        let two = ask(program, "POST", &format!("content-length: 1\r\n{length}"));
        assert_eq!(two.starts_with("HTTP/1.1 200"), !careful, "{program}: {two}");
        let head = ask(program, "HEAD", &length);
        assert_eq!(head.split_once("\r\n\r\n").unwrap().1.is_empty(), careful, "{program}: {head}");
    }
}
