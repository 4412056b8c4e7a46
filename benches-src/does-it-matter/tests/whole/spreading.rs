//! Servers on more than one CPU: who has which CPUs, and that neither a client nor a machine that is too small has a server hang, answer
//! wrongly or end.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

use crate::running::{Running, soon, with_few_descriptors};
use crate::support::{observe, run};
use does_it_matter::http::request;
use does_it_matter::order::Order;
use does_it_matter::spread::Division;

const SPREAD: [&str; 4] = [
    env!("CARGO_BIN_EXE_spread-thread"),
    env!("CARGO_BIN_EXE_spread-tokio"),
    env!("CARGO_BIN_EXE_spread-runtimes"),
    env!("CARGO_BIN_EXE_spread-monoio"),
];

/// As one would divide CPUs of which each `threads` are of the same core.
fn divided(cpus: usize, threads: usize, wanted: usize) -> (usize, Vec<String>, bool) {
    let allowed: Vec<usize> = (0..cpus).collect();
    let division = Division::of(&allowed, wanted, |cpu| Some((cpu / threads).to_string())).unwrap();
    let names = division.load.iter().map(|cpus| format!("{cpus:?}")).collect();
    (division.server.count(), names, division.same_core)
}

#[test]
fn a_server_has_different_cores_and_the_load_what_is_left() {
    let names = |cpus: &[usize]| cpus.iter().map(|cpu| format!("Cpus([{cpu}])")).collect::<Vec<_>>();
    assert_eq!(divided(2, 1, 1), (1, names(&[1]), false));
    assert_eq!(divided(2, 1, 2), (2, vec![], false), "they are shared");
    assert_eq!(divided(16, 1, 4), (4, names(&[4, 5, 6, 7]), false), "no more generators than it has CPUs");
    assert_eq!(divided(16, 2, 4), (4, names(&[8, 10, 12, 14]), false), "cores of their own");
    assert_eq!(divided(16, 2, 8), (8, names(&[1, 3, 5, 7, 9, 11, 13, 15]), true), "the other halves of the same cores");
    let unknown = Division::of(&[0, 1, 2, 3], 2, |_| None).unwrap();
    assert!(!unknown.same_core && unknown.load.len() == 2);
}

#[test]
fn a_server_with_a_cpu_beside_it_is_loaded_as_far_as_it_goes_and_one_without_is_not() {
    for program in SPREAD {
        for cpus in ["1", "2"] {
            let flags = ["--placement", "two-cpus", "--cpus", cpus, "--milliseconds", "100", "--connections", "20"];
            let seen = observe(&[program], &flags);
            let of = |name: &str| seen.measures.get(name).map(|measure| measure.values[0]);
            assert!(of("common_cpu_ns") > Some(0.) && of("threads") >= Some(2.), "{program}: {seen:?}");
            assert!(of("common_load_cpu_share").is_some_and(|share| share > 0. && share < 1.1), "{program}: {seen:?}");
            let is_shared = cpus == "2";
            assert_eq!(of("rate").is_none(), is_shared, "{program}: {seen:?}");
            assert_eq!(seen.unavailable.contains_key("rate"), is_shared, "{program}: {seen:?}");
            assert_eq!(of("generators"), Some(if is_shared { 0. } else { 1. }), "{program}");
            let said = seen.doubts.iter().any(|doubt| doubt.contains("no CPU of its own"));
            assert_eq!(said, is_shared, "{program}: {:?}", seen.doubts);
        }
    }
}

#[test]
fn workers_and_runtimes_have_a_cpu_each_and_threads_of_connections_have_all() {
    let json = Order::of_bytes(1, 500).to_json();
    for program in SPREAD {
        let server = Running::start_with(program, &["--placement", "two-cpus", "--cpus", "2"]);
        let mut clients = [(); 4].map(|()| server.connect());
        for client in &mut clients {
            server.answers(client, &json);
        }
        let wanted = if program.ends_with("spread-thread") { 0 } else { 2 };
        let is_one = |place: &&String| place.parse::<usize>().is_ok();
        // One worker may have answered all before another has begun.
        soon(&format!("{program}: {wanted} CPUs are not somebody's alone"), || {
            places_of_threads(server.child.id()).iter().filter(is_one).count() == wanted
        });
    }
}

/// The lists of CPUs on which threads of a process may run.
fn places_of_threads(process: u32) -> BTreeSet<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let status = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("status")).unwrap_or_default();
    let place = |status: String| Some(status.split_once("Cpus_allowed_list:")?.1.split_whitespace().next()?.to_owned());
    threads.filter_map(|thread| place(status(thread.unwrap()))).collect()
}

#[test]
fn what_a_client_does_wrong_is_its_own_concern() {
    let json = Order::of_bytes(1, 500).to_json();
    let whole = request(&json);
    for program in SPREAD {
        let server = Running::start_with(program, &["--cpus", "2"]);
        let mut good = server.connect();
        server.answers(&mut good, &json);
        for bad in [&b"\0\0\0\r\n\r\n"[..], b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}"] {
            let answer = server.refusal(bad);
            assert!(answer.starts_with("HTTP/1.1 400 "), "{program}: {answer:?}");
        }
        // Several leave in the middle of a request, so that each runtime and each worker has had some.
        for _ in 0..6 {
            server.connect().write_all(&whole[..whole.len() / 2]).unwrap();
        }
        let mut slow = server.connect();
        for byte in &whole {
            slow.write_all(&[*byte]).unwrap();
        }
        server.has_answered(&mut slow, &json);
        server.answers(&mut good, &json);
    }
}

#[test]
fn a_connection_that_closes_leaves_no_thread_behind() {
    let server = Running::start(SPREAD[0]);
    let threads = || fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap().count();
    soon("the thread of the first look has not ended", || threads() == 2);
    let clients = [(); 5].map(|()| server.connect());
    soon("not every connection has a thread", || threads() == 7);
    drop(clients);
    soon("threads of closed connections go on", || threads() == 2);
}

#[test]
fn where_descriptors_are_too_few_it_says_how_many_it_needs() {
    for program in SPREAD {
        let seen = with_few_descriptors(program, "--cpus 1 --placement two-cpus --connections 200");
        assert!(seen.unavailable["elapsed"].contains("needs 224 file descriptors"), "{:?}", seen.unavailable);
    }
}

#[test]
fn too_few_cpus_are_a_reason() {
    for program in SPREAD {
        let one = observe(&[program], &["--placement", "one-cpu", "--cpus", "1"]);
        assert!(one.unavailable["elapsed"].contains("beside the first of the server"), "{:?}", one.unavailable);
        let three = observe(&[program], &["--placement", "two-cpus", "--cpus", "3"]);
        assert!(three.unavailable["elapsed"].contains("a server on 3 CPUs needs as many"), "{:?}", three.unavailable);
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for program in SPREAD {
        let output = run(&[program], &["--port", &port]);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("cannot listen on port {port}")));
    }
}
