//! One operation: one request to a server that runs already: the load generator by itself.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use does_it_matter::generator::Generator;
use does_it_matter::phases::{self, Phases, Results, Watch};
use harness::{Once, Placement};
use observation::Measure;
use serde::Serialize;

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

struct Loading {
    generator: Generator,
    parameters: Parameters,
    results: Results,
}

/// A server in another process, of which nothing is read.
struct Elsewhere;

impl Watch for Elsewhere {
    fn used(&self) -> Option<(u64, u64)> {
        None
    }

    fn switches(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn memory_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }
}

impl Once for Loading {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        placement.pin_participant(1)?;
        Ok(Self { generator: Generator::new()?, parameters: parameters.clone(), results: Results::default() })
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        let Parameters { address, root, phases } = &self.parameters;
        let root = root.as_deref().map(certificate).transpose()?;
        self.results = phases::run(&mut self.generator, &Elsewhere, phases, *address, root)?;
        self.results.doubt_a_busy_generator()?;
        Ok(self.results.measures.clone())
    }

    fn doubts(&self) -> Vec<String> {
        self.results.doubts.clone()
    }

    fn unavailable(&self) -> BTreeMap<String, String> {
        self.results.unavailable.clone()
    }
}

fn certificate(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

fn main() -> ExitCode {
    does_it_matter::remote::directed().unwrap_or_else(|| harness::once::<Loading>(harness::name!()))
}
