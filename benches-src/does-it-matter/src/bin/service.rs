//! One operation: one small service, written in one of several ways: built from nothing, weighed and started.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Args;
use does_it_matter::measures::OF_BUILDING;
use does_it_matter::own_process::{Asked, Service};
use does_it_matter::parameters::Request;
use does_it_matter::services::Way;
use does_it_matter::{bytes, clean_build, count, nanoseconds};
use harness::{Findings, Placement, Report, monotonic_ns};
use serde::Serialize;

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
    let order = Asked::of_bytes(asked.request.json_bytes as usize)?;
    let mut starts_ns = 0;
    for _ in 0..STARTS {
        let before = monotonic_ns();
        let service = Service::start(Command::new(&built.program))?;
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
    #[command(flatten)]
    #[serde(flatten)]
    request: Request,
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &OF_BUILDING, service)
}
