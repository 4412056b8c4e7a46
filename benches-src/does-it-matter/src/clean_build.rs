//! A build from nothing, in a folder of its own, of a package of `benches-src/services`, whose sources this program carries with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, str};

use anyhow::{Context, Result, ensure};
use harness::{Unavailable, monotonic_ns};
use rustix::param::clock_ticks_per_second;
use tempfile::TempDir;

/// What came of a build.
pub struct Built {
    /// Packages that do not lie in the folder itself.
    pub packages: usize,
    /// From its start to its end.
    pub took_ns: u64,
    /// CPU time of all its processes.
    pub cpu_ns: u64,
    /// What was built.
    pub program: PathBuf,
    /// Where. It is gone with this.
    _folder: TempDir,
}

macro_rules! files {
    ($($path:literal)*) => { [$(($path, include_str!(concat!("../../services/", $path)))),*] };
}

/// The workspace of all five.
const FILES: [(&str, &str); 16] = files![
    "Cargo.toml" "Cargo.lock"
    "orders/Cargo.toml" "orders/src/lib.rs"
    "plain/Cargo.toml" "plain/src/lib.rs"
    "by-thread/Cargo.toml" "by-thread/src/main.rs"
    "by-pool/Cargo.toml" "by-pool/src/main.rs"
    "by-tokio/Cargo.toml" "by-tokio/src/main.rs"
    "by-hyper/Cargo.toml" "by-hyper/src/main.rs"
    "by-axum/Cargo.toml" "by-axum/src/main.rs"
];

/// The compiler with which all programs of this book are built.
const TOOLCHAIN: (&str, &str) = ("rust-toolchain.toml", include_str!("../../../rust-toolchain.toml"));

/// Builds a package as a release. Everything is downloaded before the clock starts.
pub fn from_nothing(package: &str) -> Result<Built> {
    let cargo = cargo()?;
    let folder = TempDir::with_prefix("tasks-beside-threads-service-")
        .context("cannot make a folder to build in; set TMPDIR to a folder that has 200 MiB of room and is writable")?;
    for (path, text) in FILES.into_iter().chain([TOOLCHAIN]) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().context("it lies in the folder")?)?;
        fs::write(path, text)?;
    }
    let packages = packages(&said(
        &cargo,
        &folder,
        &["tree", "--edges", "normal,build", "--prefix", "none", "--package", package],
    )?);
    let (before_cpu, before) = (cpu_ns_of_children()?, monotonic_ns());
    said(&cargo, &folder, &["build", "--release", "--offline", "--package", package])?;
    let (took_ns, cpu_ns) = (monotonic_ns() - before, cpu_ns_of_children()? - before_cpu);
    let program = folder.path().join("target/release").join(package);
    ensure!(program.is_file(), "cargo has built no {package}");
    Ok(Built { packages, took_ns, cpu_ns, program, _folder: folder })
}

/// Cargo, by its name or where rustup puts it for whoever runs this.
fn cargo() -> Result<PathBuf> {
    let folders = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let rustups = env::home_dir().map(|home| home.join(".cargo/bin"));
    let found = folders.into_iter().chain(rustups).map(|folder| folder.join("cargo")).find(|path| path.is_file());
    found.ok_or_else(|| {
        Unavailable::because("cargo is neither in PATH nor in ~/.cargo/bin; install it by rustup (https://rustup.rs)")
    })
}

/// What cargo says of the workspace in this folder.
fn said(cargo: &Path, folder: &TempDir, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(cargo);
    command.args(arguments).arg("--locked").current_dir(folder).env("CARGO_TARGET_DIR", folder.path().join("target"));
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

/// How many packages of a tree lie elsewhere; each may stand in it several times.
fn packages(tree: &str) -> usize {
    let others = tree.lines().filter(|line| !line.is_empty() && !line.contains("(/"));
    others.map(|line| line.split(' ').take(2).collect::<Vec<_>>()).collect::<BTreeSet<_>>().len()
}

/// The CPU time of all processes that this one, or one that it waited for, has waited for.
fn cpu_ns_of_children() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // What follows the name, which may have spaces and brackets itself: the state is the first, and these are the 14th and 15th.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(13).take(2);
    let ticks = fields.map(str::parse::<u64>).sum::<Result<u64, _>>().context("/proc/self/stat has other fields")?;
    Ok(ticks * 1_000_000_000 / clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_counted_once_and_one_of_ours_never() {
        let tree = "by-tokio v0.1.0 (/tmp/x/by-tokio)\nanyhow v1.0.1\ntokio v1.54.1\nmio v1.0.0\ntokio-macros v2.7.2 (proc-macro)\n\
                    plain v0.1.0 (/tmp/x/plain)\nmio v1.0.0\nmio v0.8.0\ntokio v1.54.1 (*)\n";
        assert_eq!(packages(tree), 5);
        assert_eq!(packages(""), 0);
    }

    #[test]
    fn what_children_took_is_counted_when_they_have_ended() {
        let before = cpu_ns_of_children().unwrap();
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
        assert!(Command::new("sh").args(["-c", busy]).status().unwrap().success());
        assert!(cpu_ns_of_children().unwrap() > before);
    }
}
