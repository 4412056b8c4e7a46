//! One operation: one request, an order as JSON over HTTP/1.1, answered by a service as documentation shows one, in a process of its own.

use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Args;
use does_it_matter::measures::{SEEN_BY_CLIENTS, SEEN_INSIDE};
use does_it_matter::own_process::{Asked, Service};
use does_it_matter::phases::{self, Phases};
use does_it_matter::remote::Remote;
use does_it_matter::services::{self, Way};
use harness::{Placement, Report};
use serde::Serialize;

fn serve_documented(Parameters { way, phases }: Parameters, placement: Placement, report: Report) -> Result<()> {
    // Before anything is pinned: a build takes what CPUs it is allowed.
    let program = services::documented(way)?;
    placement.pin_participant(0)?;
    let service = Service::start(Command::new(program))?;
    // Clients count answers; that it is the right one is seen here.
    service.answer(&Asked::of_bytes(phases.request.json_bytes as usize)?)?;
    let mut load = Remote::start(placement)?;
    let mut found = phases::run(&mut load, &service, &phases, service.address, None)?;
    phases::doubt_a_busy_generator(&mut found, phases.load_spins)?;
    report.give(found)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// How the service is written
    #[arg(long, value_enum, default_value_t)]
    way: Way,
    #[command(flatten)]
    #[serde(flatten)]
    phases: Phases,
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &[&SEEN_BY_CLIENTS[..], &SEEN_INSIDE[..1]].concat(), serve_documented)
}
