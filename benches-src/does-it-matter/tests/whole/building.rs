//! The service in each of its ways: it is started as the programs start it, and does the same; and these say what they lack.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::support::{observe, run, seen, skipped};
use does_it_matter::own_process::{Asked, Service};

const SERVICE: &str = env!("CARGO_BIN_EXE_service");
const DOCUMENTED: &str = env!("CARGO_BIN_EXE_serve-documented");
const COUNT: &str = env!("CARGO_BIN_EXE_count-instructions");
const WAYS: [&str; 6] = ["thread", "pool", "tokio", "hyper", "axum", "axum-bytes"];

/// Why nothing was measured by a command, before which variables of its environment may stand.
fn why_not(command: &[&str]) -> String {
    seen(run(&["/usr/bin/env"], &[command, &["--json"]].concat())).unavailable["elapsed"].clone()
}

#[test]
#[ignore = "services are compiled for it; by ci/test --nightly"]
fn each_way_answers_an_order_with_its_total() {
    for way in WAYS {
        // It compares every byte of a body before it measures. A few connections may fit into pages that it has already, and take no more memory.
        let seen = observe(&[DOCUMENTED], &["--way", way, "--connections", "60", "--milliseconds", "50"]);
        for measure in ["saturation_ns", "rate", "half_p50_ns", "user_memory_bytes"] {
            let values = &seen.measures[measure].values;
            assert!(values.len() == 1 && values[0] > 0., "{way}, {measure}: {values:?}");
        }
    }
}

#[test]
#[ignore = "services are compiled for it; by ci/test --nightly"]
fn a_service_is_built_weighed_and_started() {
    let seen = observe(&[SERVICE], &[]);
    for measure in ["packages", "build_ns", "build_cpu_ns", "file_bytes", "start_ns"] {
        let values = &seen.measures[measure].values;
        assert!(values.len() == 1 && values[0] > 0., "{measure}: {values:?}");
    }
    assert!(seen.measures["packages"].values[0] < 30., "threads need few");
}

#[test]
#[ignore = "services are compiled for it; by ci/test --nightly"]
fn a_request_takes_the_same_instructions_each_time_and_more_if_it_is_larger() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skipped("valgrind is not installed");
    }
    for ours in ["true", "false"] {
        let of = |bytes| observe(&[COUNT], &["--ours", ours, "--json-bytes", bytes]).measures["instructions"].values[0];
        let (once, again, larger) = (of("5000"), of("5000"), of("20000"));
        assert!((once / again - 1.).abs() < 0.01, "{once} and {again}");
        assert!(larger > 3. * once && larger < 5. * once, "{once}, and {larger} for four times the document");
    }
}

#[test]
fn without_valgrind_or_a_server_nothing_is_counted() {
    let without = why_not(&["PATH=/nonexistent", COUNT, "--ours", "true"]);
    assert!(without.contains("valgrind is not installed; on Debian: apt-get install valgrind"), "{without}");
    let none = why_not(&[COUNT, "--ours", "true", "--way", "pool"]);
    assert!(none.contains("this book has no such server"), "{none}");
}

#[test]
fn a_service_that_ends_or_answers_otherwise_is_reported() {
    assert!(Service::start(Command::new("/bin/true")).err().unwrap().to_string().contains("ended with exit status: 0"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 8192]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 500 no\r\n\r\n").unwrap();
    });
    let service = Service { child: Command::new("sleep").arg("30").spawn().unwrap(), address };
    let error = service.answer(&Asked::of_bytes(100).unwrap()).unwrap_err();
    other.join().unwrap();
    assert!(format!("{error:#}").contains("the service answers otherwise: HTTP/1.1 500 no"), "{error:#}");
}

#[test]
fn without_cargo_or_a_way_to_its_packages_nothing_is_built() {
    let without_cargo = why_not(&["PATH=/nonexistent", "HOME=/nonexistent", SERVICE]);
    assert!(without_cargo.contains("cargo is neither in PATH"), "{without_cargo}");
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-packages");
    let offline = why_not(&["CARGO_NET_OFFLINE=true", &format!("CARGO_HOME={}", empty.display()), SERVICE]);
    assert!(offline.contains("could not be downloaded"), "{offline}");
}
