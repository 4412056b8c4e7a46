//! One operation: one request, an order as JSON over HTTP/1.1, answered by a service as documentation shows one, in a process of its own.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context, Result};
use clap::Args;
use does_it_matter::phases::{self, Phases, SEEN_BY_CLIENTS, SEEN_INSIDE, Watch};
use does_it_matter::remote::Remote;
use harness::{Placement, Report};
use serde::Serialize;

#[path = "../own_process.rs"]
mod own_process;
#[path = "../services.rs"]
mod services;

use own_process::{Asked, Service};
use services::Way;

fn serve_documented(Parameters { way, phases }: Parameters, placement: Placement, report: Report) -> Result<()> {
    // Before anything is pinned: a build takes what CPUs it is allowed.
    let program = built(way)?;
    placement.pin_participant(0)?;
    let service = Service::start(&program)?;
    // Clients count answers; that it is the right one is seen here.
    service.answer(&Asked::of_bytes(phases.json_bytes as usize)?)?;
    let mut load = Remote::start(placement)?;
    let mut found = phases::run(&mut load, &service, &phases, service.address, None)?;
    phases::doubt_a_busy_generator(&mut found)?;
    report.give(found)
}

/// Lies beside this program, so that only the first run has to build.
fn built(way: Way) -> Result<PathBuf> {
    let folder = env::current_exe()?.with_file_name("services");
    services::unpack(&folder).with_context(|| format!("cannot write the services' sources to {}", folder.display()))?;
    services::cargo(&folder, &["build", "--release", "--package", &way.package()])?;
    services::program(&folder, &way.package())
}

impl Watch for Service {
    /// How many it has answered, it does not say.
    fn used(&self) -> Option<(u64, u64)> {
        None
    }

    fn switches(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn memory_bytes(&self) -> Result<Option<u64>> {
        let resident = self.kib("smaps_rollup", "Pss:")?;
        Ok(Some((resident + self.kib("status", "VmPTE:")?) * 1024))
    }
}

impl Service {
    /// A number of a file that the kernel keeps of its process.
    fn kib(&self, file: &str, name: &str) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse().ok());
        line.with_context(|| format!("the kernel reports no {name}"))
    }
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
