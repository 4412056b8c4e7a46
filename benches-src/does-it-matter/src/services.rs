//! The service of `benches-src/services` in each of its ways: sources, which a program carries with it, and cargo, which builds them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use harness::Unavailable;
use resources::tool::first_of;
use serde::Serialize;
use tempfile::NamedTempFile;

/// How the service is written.
#[derive(ValueEnum, Serialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
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
    /// axum on tokio, which takes the bytes of an order and calls serde_json itself
    AxumBytes,
}

impl Way {
    /// The package that has it so, and its program.
    pub fn package(self) -> String {
        format!("by-{}", self.to_possible_value().expect("each of them has a name").get_name())
    }
}

macro_rules! files {
    ($($path:literal)*) => { [$(($path, include_str!(concat!("../../services/", $path)))),*] };
}

/// The workspace of all.
const FILES: [(&str, &str); 18] = files![
    "Cargo.toml" "Cargo.lock"
    "orders/Cargo.toml" "orders/src/lib.rs"
    "plain/Cargo.toml" "plain/src/lib.rs"
    "by-thread/Cargo.toml" "by-thread/src/main.rs"
    "by-pool/Cargo.toml" "by-pool/src/main.rs"
    "by-tokio/Cargo.toml" "by-tokio/src/main.rs"
    "by-hyper/Cargo.toml" "by-hyper/src/main.rs"
    "by-axum/Cargo.toml" "by-axum/src/main.rs"
    "by-axum-bytes/Cargo.toml" "by-axum-bytes/src/main.rs"
];

/// The compiler with which all programs of this book are built.
const TOOLCHAIN: (&str, &str) = ("rust-toolchain.toml", include_str!("../../../rust-toolchain.toml"));

/// Builds the service as documentation shows it. It lies beside the program that asks for it, so
/// that only the first run has to build.
pub fn documented(way: Way) -> Result<PathBuf> {
    let folder = env::current_exe()?.with_file_name("services");
    unpack(&folder).with_context(|| format!("cannot write the services' sources to {}", folder.display()))?;
    cargo(&folder, &["build", "--release", "--package", &way.package()])?;
    program(&folder, &way.package())
}

/// Puts the workspace into a folder. A file that lies there already as it should stays untouched, so that cargo knows what it has built.
pub fn unpack(folder: &Path) -> Result<()> {
    for (path, text) in FILES.into_iter().chain([TOOLCHAIN]) {
        let path = folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        let parent = path.parent().context("it lies in the folder")?;
        fs::create_dir_all(parent)?;
        // Written beside and moved: another process may be reading it.
        let mut beside = NamedTempFile::new_in(parent)?;
        beside.write_all(text.as_bytes())?;
        beside.persist(path)?;
    }
    Ok(())
}

/// What cargo says of the workspace in this folder.
pub fn cargo(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(path_of_cargo()?);
    command.args(arguments).arg("--locked").current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    // Cargo starts compilers that lie beside it, and asks rustup, which has its toolchains at home.
    if let Some(home) = env::home_dir() {
        command.env("HOME", home);
    }
    let output = command.output().context("cannot start cargo")?;
    let error = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && ["download", "--offline", "resolve host"].iter().any(|word| error.contains(word)) {
        return Err(Unavailable::because(format!(
            "packages could not be downloaded: {}",
            error.lines().next().unwrap_or_default()
        )));
    }
    ensure!(output.status.success(), "cargo {} ended with {}: {error}", arguments[0], output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// By its name or where rustup puts it for whoever runs this.
fn path_of_cargo() -> Result<PathBuf> {
    let rustups = env::home_dir().map(|home| home.join(".cargo/bin/cargo"));
    let places: Vec<_> = [PathBuf::from("cargo")].into_iter().chain(rustups).collect();
    first_of(&places, "cargo is neither in PATH nor in ~/.cargo/bin; install it by rustup (https://rustup.rs)")
}

/// Where a release of this package lies when it has been built in this folder.
pub fn program(folder: &Path, package: &str) -> Result<PathBuf> {
    let program = folder.join("target/release").join(package);
    ensure!(program.is_file(), "cargo has built no {package}");
    Ok(program)
}
