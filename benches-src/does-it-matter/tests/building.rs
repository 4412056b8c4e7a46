//! The service in its five ways: each is started as the program `service` starts it, and does the same; and that program says what it lacks.

#[path = "../src/own_process.rs"]
mod own_process;
#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::process::Command;

use does_it_matter::order::Order;
use own_process::{Service, ns_until_answered};
use support::{observe, run, seen};

const SERVICE: &str = env!("CARGO_BIN_EXE_service");
const WAYS: [&str; 5] = ["thread", "pool", "tokio", "hyper", "axum"];

#[test]
fn each_way_answers_an_order_with_its_total() {
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).join("../services");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("services");
    let mut cargo = Command::new(env!("CARGO"));
    let built = cargo.args(["build", "--locked", "--workspace"]).current_dir(services).env("CARGO_TARGET_DIR", &target);
    assert!(built.status().unwrap().success());
    for way in WAYS {
        let program = target.join(format!("debug/by-{way}"));
        // What is compared is every byte of the body.
        assert!(ns_until_answered(&program, &Order::of_bytes(3, 5000)).unwrap() > 0, "{way}");
        let service = Service::start(&program).unwrap();
        assert!(service.memory_bytes().unwrap() > 0, "{way}");
        assert!(service.cpu_ns().unwrap() > 0, "{way}");
    }
    assert!(Service::start(Path::new("/bin/true")).err().unwrap().to_string().contains("ended with exit status: 0"));
}

#[test]
fn a_service_is_built_weighed_started_and_asked() {
    let seen = observe(&[SERVICE], &["--connections", "3", "--milliseconds", "50"]);
    for measure in ["packages", "build_ns", "build_cpu_ns", "file_bytes", "start_ns", "cpu_ns", "rate", "memory_bytes"]
    {
        let values = &seen.measures[measure].values;
        assert!(values.len() == 1 && values[0] > 0., "{measure}: {values:?}");
    }
    assert!(seen.measures["packages"].values[0] < 30., "threads need few");
}

#[test]
fn without_cargo_or_a_way_to_its_packages_nothing_is_built() {
    let with = |environment: &str| {
        let shell = format!("exec env {environment} {SERVICE} --json");
        seen(run(&["/bin/sh"], &["-c", &shell])).unavailable["elapsed"].clone()
    };
    let without_cargo = with("PATH=/nonexistent HOME=/nonexistent");
    assert!(without_cargo.contains("cargo is neither in PATH"), "{without_cargo}");
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-packages");
    let offline = with(&format!("CARGO_NET_OFFLINE=true CARGO_HOME={}", empty.display()));
    assert!(offline.contains("could not be downloaded"), "{offline}");
}
