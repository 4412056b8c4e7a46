//! Servers that ask another service: each request asks as often as it should, and a service that is slow, gone or mad is no reason to
//! hang, to answer wrongly or to end.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use crate::running::{Running, free_port, with_few_descriptors};
use crate::support::{observe, run};
use does_it_matter::http::request;
use does_it_matter::order::Order;
use does_it_matter::question::{ANSWER, QUESTION, answer};

const ASKING: [&str; 3] =
    [env!("CARGO_BIN_EXE_ask-thread"), env!("CARGO_BIN_EXE_ask-pool"), env!("CARGO_BIN_EXE_ask-tokio")];

#[test]
fn every_request_asks_as_often_as_it_should() {
    for program in ASKING {
        for calls in ["0", "1", "4"] {
            let flags = ["--connections", "20", "--milliseconds", "60", "--calls", calls, "--microseconds", "200"];
            let seen = observe(&[program], &flags);
            let of = |name: &str| seen.measures[name].values[0];
            assert!(of("rate") > 0. && of("cpu_ns") > 0. && of("threads") >= 2., "{program}: {seen:?}");
            assert_eq!(of("asked") == 0., calls == "0", "{program}");
            assert_eq!(seen.measures.contains_key("upstream_late_p99_ns"), calls != "0", "{program}");
            assert!((0. ..=1.1).contains(&of("upstream_cpu_share")), "{program}");
        }
    }
}

#[test]
fn the_service_answers_when_it_is_due_and_not_before() {
    let started = Instant::now();
    let seen = observe(&[env!("CARGO_BIN_EXE_upstream")], &["--microseconds", "20000", "--questions", "10"]);
    assert!(started.elapsed() >= Duration::from_millis(200));
    assert_eq!(seen.measures["answered"].values, [10.]);
}

#[test]
fn a_service_without_a_socket_says_what_it_needs() {
    let output = run(&["sh"], &["-c", &format!("{} --given true < /dev/null", env!("CARGO_BIN_EXE_upstream"))]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("needs a listening socket"));
}

/// A service that does this with each question on each connection, until it says that it is enough.
fn service(
    with: impl Fn(&mut std::net::TcpStream, &[u8; QUESTION]) -> bool + Send + Sync + Copy + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let (mut stream, mut question) = (stream.unwrap(), [0; QUESTION]);
                while stream.read_exact(&mut question).is_ok() && with(&mut stream, &question) {}
            });
        }
    });
    address
}

fn ask(program: &str, upstream: SocketAddr, further: &[&str]) -> Running {
    Running::start_with(program, &[&["--upstream", &upstream.to_string()], further].concat())
}

/// What comes back for a request, until the connection is closed.
fn answer_of(server: &Running) -> String {
    server.refusal(&request(&Order::of_bytes(1, 500).to_json()))
}

#[test]
fn a_service_that_is_gone_closes_half_way_or_answers_wrongly_is_a_bad_gateway() {
    let nobody: SocketAddr = format!("127.0.0.1:{}", free_port()).parse().unwrap();
    let closing = service(|stream, question| {
        stream.write_all(&answer(question)[..ANSWER / 2]).unwrap();
        false
    });
    let mad = service(|stream, _| stream.write_all(&[0; ANSWER]).is_ok());
    for program in ASKING {
        for upstream in [nobody, closing, mad] {
            let server = ask(program, upstream, &[]);
            for _ in 0..2 {
                let answer = answer_of(&server);
                assert!(answer.starts_with("HTTP/1.1 502 "), "{program}: {answer:?}");
            }
        }
    }
}

#[test]
fn a_service_that_is_slow_delays_those_who_ask_and_in_a_pool_of_one_all_others() {
    const SLOW: Duration = Duration::from_millis(150);
    let slow = service(|stream, question| {
        std::thread::sleep(SLOW);
        stream.write_all(&answer(question)).is_ok()
    });
    let json = Order::of_bytes(1, 500).to_json();
    for program in ASKING {
        let is_pool = program.ends_with("ask-pool");
        let server = ask(program, slow, if is_pool { &["--workers", "1"] } else { &[] });
        let mut clients = [(); 3].map(|()| server.connect());
        let started = Instant::now();
        for client in &mut clients {
            client.write_all(&request(&json)).unwrap();
        }
        for client in &mut clients {
            server.has_answered(client, &json);
        }
        let together = started.elapsed();
        assert!(together >= if is_pool { 3 * SLOW } else { SLOW }, "{program}: {together:?}");
        assert!(is_pool || together < 3 * SLOW, "{program}: {together:?}");
    }
}

#[test]
fn where_descriptors_are_too_few_for_both_sides_it_says_how_many_it_needs() {
    for program in ASKING {
        let seen = with_few_descriptors(program, "--connections 200 --milliseconds 40");
        assert!(seen.unavailable["elapsed"].contains("needs 424 file descriptors"), "{:?}", seen.unavailable);
    }
}

#[test]
fn one_cpu_for_all_three_is_unavailable() {
    for program in ASKING {
        let seen = observe(&[program], &["--placement", "one-cpu"]);
        assert!(seen.unavailable["elapsed"].contains("beside the server's"), "{:?}", seen.unavailable);
    }
}
