//! One operation: one request. Counted are the instructions that it takes a server in user space.

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use does_it_matter::generator::{Command, Generator, Load, Target};
use does_it_matter::own_process::Service;
use does_it_matter::parameters::Request;
use does_it_matter::services::{self, Way};
use does_it_matter::{count, under_valgrind};
use harness::{Placement, Report, Unavailable, described};
use serde::Serialize;

fn count_instructions(asked: Parameters, placement: Placement, report: Report) -> Result<()> {
    let start = if asked.ours { ours } else { documented };
    let counted = |milliseconds| counted(start(asked.way, placement)?, asked.request.json_bytes as usize, milliseconds);
    let (few, fewer) = counted(100)?;
    let (many, more) = counted(1000)?;
    ensure!(many > few, "{many} requests were answered in a second, and {few} in a tenth of one");
    // What it takes to start and to end is in both.
    let each = (more - fewer) / (many - few) as f64;
    report.give(BTreeMap::from([("instructions".to_owned(), count(each))]))
}

/// How many requests of a single client a server answers, and the instructions that it runs from its start to its end.
fn counted(server: Service, json_bytes: usize, milliseconds: u64) -> Result<(u64, f64)> {
    let mut generator = Generator::new()?;
    let target = Target { address: server.address, connections: 1, idle: 0, json_bytes, root: None };
    generator.execute(&Command::Connect(target))?;
    let answered = generator.execute(&Command::Closed { milliseconds, spins: false })?.answered;
    Ok((answered, under_valgrind::instructions(server)?))
}

/// This book's server.
fn ours(way: Way, placement: Placement) -> Result<Service> {
    let name = match way {
        Way::Thread => "serve-thread",
        Way::Tokio => "serve-tokio-plain",
        Way::Hyper => "serve-tokio",
        Way::Pool | Way::Axum | Way::AxumBytes => return Err(Unavailable::because("this book has no such server")),
    };
    placement.pin_participant(0)?;
    under_valgrind::told(&env::current_exe()?.with_file_name(name), &["--serve-seconds", "600"])
}

/// The service as documentation shows it.
fn documented(way: Way, placement: Placement) -> Result<Service> {
    let program = services::documented(way)?;
    // After the build, which takes what CPUs it is allowed.
    placement.pin_participant(0)?;
    Service::start(under_valgrind::command(&program)?)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// How the server is written
    #[arg(long, value_enum, default_value_t)]
    way: Way,
    /// Whether it is this book's server, and not what documentation shows
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set)]
    ours: bool,
    #[command(flatten)]
    #[serde(flatten)]
    request: Request,
}

fn main() -> ExitCode {
    let measures = [described("instructions", "1", "the instructions in user space that a request takes the server")];
    harness::once(harness::name!(), &measures, count_instructions)
}
