//! Servers whose clients connect anew for each request: every answer is counted on both sides, and a pool that is exhausted lets the next one wait.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use crate::running::{Running, SOON, each, free_port};
use crate::support::{observe, run};
use does_it_matter::http::request;
use does_it_matter::order::Order;

const POOL: &str = env!("CARGO_BIN_EXE_brief-pool");
const BRIEF: [&str; 3] = [env!("CARGO_BIN_EXE_brief-thread"), POOL, env!("CARGO_BIN_EXE_brief-tokio")];
const CALLERS: &str = env!("CARGO_BIN_EXE_callers");

#[test]
fn every_client_is_answered_on_a_connection_of_its_own() {
    for program in BRIEF {
        for clients in ["1", "40", "300"] {
            let seen = observe(&[program], &["--clients", clients, "--milliseconds", "60"]);
            let of = |name: &str| seen.measures[name].values[0];
            assert!(of("answered") >= clients.parse().unwrap() && of("cpu_ns") > 0., "{program}: {seen:?}");
            assert!(of("p99_ns") >= of("p50_ns") && of("p50_ns") > 0.);
            assert!((0. ..=1.1).contains(&of("clients_cpu_share")), "{program}: {seen:?}");
        }
    }
}

#[test]
fn a_client_that_stays_is_served_on_and_whoever_asks_for_the_end_sees_it() {
    let json = Order::of_bytes(1, 500).to_json();
    for (program, server) in each(&BRIEF) {
        let mut stays = server.connect();
        (0..3).for_each(|_| server.answers(&mut stays, &json));
        let ending = String::from_utf8(request(&json)).unwrap().replacen("\r\n", "\r\nconnection: close\r\n", 1);
        assert!(server.refusal(ending.as_bytes()).starts_with("HTTP/1.1 200 OK"), "{program}");
        assert!(server.refusal(b"\0\0\0\r\n\r\n").starts_with("HTTP/1.1 400 "), "{program}");
        server.answers(&mut stays, &json);
    }
}

#[test]
fn whoever_finds_the_pool_exhausted_waits_until_somebody_leaves() {
    let json = Order::of_bytes(1, 500).to_json();
    let server = Running::start_with(POOL, &["--workers", "2"]);
    let [mut first, mut second, mut third] = [(); 3].map(|()| server.connect());
    server.answers(&mut first, &json);
    server.answers(&mut second, &json);
    third.write_all(&request(&json)).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert_eq!(third.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock, "both threads have a connection");
    third.set_read_timeout(Some(SOON)).unwrap();
    drop(first);
    server.has_answered(&mut third, &json);
    server.answers(&mut second, &json);
}

#[test]
fn clients_without_a_server_say_so_and_one_cpu_for_both_is_unavailable() {
    let port = free_port();
    let output = run(&[CALLERS], &["--address", &format!("127.0.0.1:{port}")]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the server does not take a request"));
    for program in BRIEF {
        let seen = observe(&[program], &["--placement", "one-cpu"]);
        assert!(seen.unavailable["elapsed"].contains("need a CPU of their own"), "{program}");
    }
}
