//! A build from nothing, in a folder of its own, of a package of `benches-src/services`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use harness::monotonic_ns;
use rustix::param::clock_ticks_per_second;
use tempfile::TempDir;

use crate::services;

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

/// Builds a package as a release. Everything is downloaded before the clock starts.
pub fn from_nothing(package: &str) -> Result<Built> {
    let folder = TempDir::with_prefix("tasks-beside-threads-service-")
        .context("cannot make a folder to build in; set TMPDIR to a folder that has 200 MiB of room and is writable")?;
    services::unpack(folder.path())?;
    let tree = ["tree", "--edges", "normal,build", "--prefix", "none", "--package", package];
    let packages = packages(&services::cargo(folder.path(), &tree)?);
    let (before_cpu, before) = (cpu_ns_of_children()?, monotonic_ns());
    services::cargo(folder.path(), &["build", "--release", "--offline", "--package", package])?;
    let (took_ns, cpu_ns) = (monotonic_ns() - before, cpu_ns_of_children()? - before_cpu);
    let program = services::program(folder.path(), package)?;
    Ok(Built { packages, took_ns, cpu_ns, program, _folder: folder })
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
    use std::process::Command;

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
