//! One operation: one program of this chapter weighed, and not run: how many bytes of its file would be loaded, as the file itself says.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use does_it_matter::measures::OF_WEIGHING;
use does_it_matter::{bytes, elf};
use harness::{Placement, Report};
use serde::Serialize;

fn weigh(Weighed { binary }: Weighed, _: Placement, report: Report) -> Result<()> {
    let named = binary.to_possible_value().context("each of them has a name")?;
    let path = std::env::current_exe()?.with_file_name(named.get_name());
    let file = fs::read(&path).with_context(|| format!("cannot read {}; build it first", path.display()))?;
    let parts = elf::loaded(&file).with_context(|| format!("cannot weigh {}", path.display()))?;
    let of = |kind| parts.iter().filter(|part| part.kind == kind).map(|part| part.bytes as f64).sum::<f64>();
    let measures = [
        ("loaded_bytes", parts.iter().map(|part| part.bytes as f64).sum()),
        ("code_bytes", of(elf::Kind::Code)),
        ("unwinding_bytes", of(elf::Kind::Unwinding)),
        ("relocation_bytes", of(elf::Kind::Relocation)),
        ("data_bytes", of(elf::Kind::Data)),
        ("file_bytes", file.len() as f64),
    ];
    report.give(BTreeMap::from(measures.map(|(name, sum)| (name.to_owned(), bytes(sum)))))
}

#[derive(Args, Serialize)]
struct Weighed {
    /// Which program
    #[arg(long, value_enum, default_value_t)]
    binary: Binary,
}

// Named in quotation marks, so that a record is known to be older than what was weighed.
#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum Binary {
    #[default]
    #[value(name = "serve-thread")]
    ServeThread,
    #[value(name = "serve-tokio-plain")]
    ServeTokioPlain,
    #[value(name = "serve-tokio")]
    ServeTokio,
    #[value(name = "serve-nothing")]
    ServeNothing,
    #[value(name = "ask-thread")]
    AskThread,
    #[value(name = "ask-pool")]
    AskPool,
    #[value(name = "ask-tokio")]
    AskTokio,
    #[value(name = "pipeline-thread")]
    PipelineThread,
    #[value(name = "pipeline-smol")]
    PipelineSmol,
    #[value(name = "pipeline-tokio")]
    PipelineTokio,
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &OF_WEIGHING, weigh)
}
