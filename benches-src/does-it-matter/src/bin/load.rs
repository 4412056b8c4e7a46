//! One operation: one request to a server that runs already: the load generator by itself.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use does_it_matter::generator::Generator;
use does_it_matter::measures::SEEN_BY_CLIENTS;
use does_it_matter::phases::{self, Phases, Watch};
use harness::{Placement, Report};
use serde::Serialize;

fn load(Parameters { address, root, phases }: Parameters, placement: Placement, report: Report) -> Result<()> {
    placement.pin_participant(1)?;
    let mut generator = Generator::new()?;
    let root = root.as_deref().map(certificate).transpose()?;
    let mut found = phases::run(&mut generator, &Elsewhere, &phases, address, root)?;
    phases::doubt_a_busy_generator(&mut found, phases.load_spins)?;
    report.give(found)
}

fn certificate(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// A server in another process, of which nothing is read.
struct Elsewhere;

impl Watch for Elsewhere {}

#[derive(Args, Serialize, Clone)]
struct Parameters {
    /// Where the server listens
    #[arg(long, default_value = "127.0.0.1:8080")]
    address: SocketAddr,
    /// A file with the certificate to trust (DER), as a server writes it with --root: connections are encrypted then
    #[arg(long)]
    #[serde(skip)]
    root: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    phases: Phases,
}

fn main() -> ExitCode {
    does_it_matter::remote::directed().unwrap_or_else(|| harness::once(harness::name!(), &SEEN_BY_CLIENTS, load))
}
