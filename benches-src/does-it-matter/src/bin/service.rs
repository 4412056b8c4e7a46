//! One operation: one small service, written in one of several ways: built from nothing, weighed and started.

use std::fs;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use does_it_matter::{bytes, count, nanoseconds};
use harness::{Described, Findings, Placement, Report, described, monotonic_ns};
use serde::Serialize;

#[path = "../clean_build.rs"]
mod clean_build;
#[path = "../own_process.rs"]
mod own_process;
#[path = "../services.rs"]
mod services;

use own_process::{Asked, Service};
use services::Way;

fn service(asked: Parameters, placement: Placement, report: Report) -> Result<()> {
    let mut found = Findings::default();
    let mut put = |name: &str, measure| found.measures.insert(name.to_owned(), measure);
    // Before anything is pinned: a build takes what CPUs it is allowed.
    let built = clean_build::from_nothing(&asked.way.package())?;
    put("packages", count(built.packages as f64));
    put("build_ns", nanoseconds(built.took_ns as f64));
    put("build_cpu_ns", nanoseconds(built.cpu_ns as f64));
    put("file_bytes", bytes(fs::metadata(&built.program)?.len() as f64));

    placement.pin_participant(0)?;
    let order = Asked::of_bytes(asked.json_bytes as usize)?;
    let mut starts_ns = 0;
    for _ in 0..STARTS {
        let before = monotonic_ns();
        let service = Service::start(&built.program)?;
        service.answer(&order)?;
        starts_ns += monotonic_ns() - before;
    }
    put("start_ns", nanoseconds(starts_ns as f64 / STARTS as f64));
    report.give(found)
}

/// A first answer is awaited so many times.
const STARTS: u64 = 15;

#[derive(Args, Serialize)]
struct Parameters {
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    way: Way,
    /// Bytes of JSON in a request
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    json_bytes: u32,
}

const MEASURES: [Described; 5] = [
    described("packages", "1", "packages from crates.io that are compiled for it, build scripts and macros among them"),
    described("build_ns", "ns", "from the start of a build from nothing, with everything downloaded, to its end"),
    described("build_cpu_ns", "ns", "the CPU time of all processes of that build"),
    described("file_bytes", "B", "the program's file, built without symbols"),
    described(
        "start_ns",
        "ns",
        "from the start of its process until the first request has been answered, on average of 15 starts",
    ),
];

fn main() -> ExitCode {
    harness::once(harness::name!(), &MEASURES, service)
}
