//! One operation: one small service, written as one of five ways has it: built from nothing, weighed, started and asked.

use std::fs;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use does_it_matter::generator::{Command, Load, Report as Seen, Target};
use does_it_matter::order::Order;
use does_it_matter::remote::Remote;
use does_it_matter::{bytes, count, nanoseconds};
use harness::{Described, Findings, Placement, Report, described};
use serde::Serialize;

#[path = "../clean_build.rs"]
mod clean_build;
#[path = "../own_process.rs"]
mod own_process;

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
    let order = Order::of_bytes(1, asked.json_bytes as usize);
    let mut starts_ns = 0;
    for _ in 0..STARTS {
        starts_ns += own_process::ns_until_answered(&built.program, &order)?;
    }
    put("start_ns", nanoseconds(starts_ns as f64 / STARTS as f64));

    let service = own_process::Service::start(&built.program)?;
    let mut load = Remote::start(placement)?;
    let (connections, json_bytes) = (asked.connections as usize, asked.json_bytes as usize);
    let target = Target { address: service.address, connections, idle: 0, json_bytes, root: None };
    load.execute(&Command::Connect(target))?;
    load.execute(&Command::Closed { milliseconds: asked.milliseconds.div_ceil(4) })?;
    let before = service.cpu_ns()?;
    let Seen { answered, answered_in_time, phase_ns, .. } =
        load.execute(&Command::Closed { milliseconds: asked.milliseconds })?;
    put("cpu_ns", nanoseconds((service.cpu_ns()? - before) as f64 / answered as f64));
    put("rate", count(answered_in_time as f64 * 1e9 / phase_ns as f64));
    put("memory_bytes", bytes(service.memory_bytes()? as f64));
    report.give(found)
}

/// A first answer is awaited so many times.
const STARTS: u64 = 15;

#[derive(Args, Serialize)]
struct Parameters {
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    way: Way,
    /// Connections on which requests are sent, at most as many as the pool has threads
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=200))]
    connections: u32,
    /// Bytes of JSON in a request
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(..=100_000))]
    json_bytes: u32,
    /// How long requests are sent, in milliseconds
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    milliseconds: u64,
}

#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// A thread per connection
    #[default]
    Thread,
    /// A pool of 200 threads that serve connections to their end
    Pool,
    /// tokio, a task per connection
    Tokio,
    /// hyper on tokio
    Hyper,
    /// axum on tokio
    Axum,
}

impl Way {
    fn package(self) -> String {
        format!("by-{}", self.to_possible_value().expect("each of them has a name").get_name())
    }
}

const MEASURES: [Described; 8] = [
    described("packages", "1", "packages from crates.io that are compiled for it, build scripts and macros among them"),
    described("build_ns", "ns", "from the start of a build from nothing, with everything downloaded, to its end"),
    described("build_cpu_ns", "ns", "the CPU time of all processes of that build"),
    described("file_bytes", "B", "the program's file, built without symbols"),
    described(
        "start_ns",
        "ns",
        "from the start of its process until the first request has been answered, on average of 15 starts",
    ),
    described("cpu_ns", "ns", "the CPU time that one request took it while it did all it could"),
    described("rate", "1", "requests answered in a second while it did all it could"),
    described(
        "memory_bytes",
        "B",
        "resident memory of its process after that, pages that are shared by their share (Pss)",
    ),
];

fn main() -> ExitCode {
    harness::once(harness::name!(), &MEASURES, service)
}
