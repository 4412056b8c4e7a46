//! One operation: one small driver, whose functions pass a call on to the one below, compiled and weighed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::Result;
use clap::{Args, ValueEnum};
use does_it_matter::{bytes, elf};
use harness::{Described, Placement, Report, described};
use resources::tool::{first_of, said};
use serde::Serialize;
use tempfile::TempDir;

/// The layer that waits, and what is read through the layers between.
const DRIVER: &str = include_str!("weigh-passing/driver.rs");

const AWAITED: &str = "
async fn read(register: u8) -> u8 { Transfer(register).await }
async fn temperature() -> u8 { read(1).await }
async fn pressure() -> u8 { read(2).await }
async fn humidity() -> u8 { read(3).await }
";

const RETURNED: &str = "
fn read(register: u8) -> impl Future<Output = u8> { Transfer(register) }
fn temperature() -> impl Future<Output = u8> { read(1) }
fn pressure() -> impl Future<Output = u8> { read(2) }
fn humidity() -> impl Future<Output = u8> { read(3) }
";

fn weigh_passing(Parameters { awaits, opt_level }: Parameters, _: Placement, report: Report) -> Result<()> {
    let layers = if awaits { AWAITED } else { RETURNED };
    let level = if let OptLevel::Size = opt_level { "s" } else { "3" };
    let home = env::home_dir().unwrap_or_default();
    let places = [PathBuf::from("rustc"), home.join(".cargo/bin/rustc")];
    let compiler =
        first_of(&places, "rustc is neither in PATH nor in ~/.cargo/bin; install it by rustup (https://rustup.rs)")?;
    let folder = TempDir::new()?;
    fs::write(folder.path().join("driver.rs"), [DRIVER, layers].concat())?;
    // By this, rustup takes the compiler that has compiled all programs.
    fs::write(folder.path().join("rust-toolchain.toml"), include_str!("../../../../rust-toolchain.toml"))?;
    let mut compile = Command::new(compiler);
    compile.env("HOME", home);
    compile.args(["driver.rs", "--crate-type=lib", "--edition=2024", "--emit=obj=driver.o"]).current_dir(&folder);
    compile.args(["-Cpanic=abort", "-Ccodegen-units=1"]).arg(format!("-Copt-level={level}"));
    said(&mut compile)?;
    let parts = elf::loaded(&fs::read(folder.path().join("driver.o"))?)?;
    let code = parts.iter().filter(|part| part.kind == elf::Kind::Code).map(|part| part.bytes as f64).sum();
    report.give(BTreeMap::from([(CODE.name.to_owned(), bytes(code))]))
}

const CODE: Described = described("code_bytes", "B", "the instructions of the driver");

#[derive(Args, Serialize)]
struct Parameters {
    /// Whether a function that passes a call on awaits the one below, or returns its future
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    awaits: bool,
    /// What the compiler is asked to optimize for
    #[arg(long, value_enum, default_value_t)]
    opt_level: OptLevel,
}

#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum OptLevel {
    /// Few bytes: opt-level = "s"
    Size,
    /// Little time: opt-level = 3
    #[default]
    Speed,
}

fn main() -> ExitCode {
    harness::once(harness::name!(), &[CODE], weigh_passing)
}
