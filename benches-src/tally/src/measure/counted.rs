//! Counts exactly, by a tool that looks at every step of a program. A program is run under the tool
//! for fewer laps and for more; what it does to set up and to end is in both runs, so the
//! difference is what the laps did.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Result, ensure};
use observation::Measure;

use crate::book::count::Count;
use crate::measure::background::GIVES_WAY;
use crate::measure::instructions;
use crate::measure::system_calls;
use crate::record::Raw;

/// Where the tool lies, or why nothing is counted.
pub fn tool(count: Count) -> Result<PathBuf, String> {
    let name = count.command();
    find(name).ok_or_else(|| lacking(name, name))
}

/// What the tool is told, so that it writes what it saw into this file.
pub fn arguments(count: Count, summary: &Path) -> Vec<OsString> {
    match count {
        Count::SystemCalls => vec!["-f".into(), "-c".into(), "-o".into(), summary.into()],
        Count::Instructions => instructions::arguments(summary),
    }
}

/// Why the tool may not look at a program, by what it wrote to standard error.
pub fn refused(count: Count, errors: &str) -> Option<String> {
    match count {
        Count::SystemCalls => system_calls::refused(errors),
        Count::Instructions => None,
    }
}

fn read(count: Count, summary: &str, program: &Path) -> Result<BTreeMap<String, u64>> {
    match count {
        Count::SystemCalls => system_calls::parse(summary),
        Count::Instructions => instructions::parse(summary, program),
    }
}

/// What is said of a tool that cannot be found, here and by programs that start one, after its
/// name.
pub(super) const NOT_INSTALLED: &str = " is not installed";

/// What is said of a tool that is not there, and which package of Debian has it.
pub fn lacking(tool: &str, package: &str) -> String {
    format!("{tool}{NOT_INSTALLED}; on Debian: apt-get install {package}")
}

/// Where a tool lies, if it is installed.
pub fn find(tool: &str) -> Option<PathBuf> {
    find_in(&env::var_os("PATH")?, tool)
}

/// The same where these folders are looked through.
fn find_in(path: &OsStr, tool: &str) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(tool)).find(|file| fs::metadata(file).is_ok_and(|f| f.is_file()))
}

/// The tool for lack of which something was not measured, if it has been installed since. Programs
/// find one along this path, and what counts or gives way is found along this process's own.
pub fn installed_since(reason: &str, path_of_programs: &str) -> Option<PathBuf> {
    let (tool, _) = reason.split_once(NOT_INSTALLED)?;
    let tool = tool.rsplit(' ').next()?;
    let is_ours = tool == GIVES_WAY || Count::EVERY.iter().any(|count| count.command() == tool);
    if is_ours { find(tool) } else { find_in(OsStr::new(path_of_programs), tool) }
}

pub struct Counted {
    pub count: Count,
    /// By measure, set-up and end among them.
    pub measures: BTreeMap<String, u64>,
    pub operations: u64,
}

impl Counted {
    /// From the tool's summary and what the program itself reported.
    pub fn new(count: Count, summary: &str, program: &Path, seen: &Raw) -> Result<Self> {
        let operations = seen.samples.times().map(|(operations, _)| operations).sum();
        Ok(Self { count, measures: read(count, summary, program)?, operations })
    }

    /// How many per operation, of all kinds and of each that was seen, given a shorter run of the
    /// same program. Kinds of which the laps did none are left out. A kind of which threads do now
    /// more and now fewer can come out below 0.
    pub fn beyond(&self, shorter: &Self) -> Result<BTreeMap<String, Measure>> {
        ensure!(self.operations > shorter.operations, "more laps did not mean more operations");
        let operations = (self.operations - shorter.operations) as f64;
        let of = |counted: &Self, measure: &str| counted.measures.get(measure).copied().unwrap_or(0) as f64;
        let names: BTreeSet<&String> = self.measures.keys().chain(shorter.measures.keys()).collect();
        let moved = names.into_iter().map(|name| (name.clone(), of(self, name) - of(shorter, name)));
        let moved = moved.filter(|(name, moved)| *moved != 0.0 || name == self.count.all());
        let measure = |moved: f64| Measure { unit: "1".to_owned(), values: vec![moved / operations] };
        Ok(moved.map(|(name, moved)| (name, measure(moved))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(measures: &[(&str, u64)], operations: u64) -> Counted {
        let measures = measures.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        Counted { count: Count::SystemCalls, measures, operations }
    }

    #[test]
    fn set_up_and_end_fall_out() {
        let shorter = counted(
            &[("calls", 31), ("calls_recvfrom", 20), ("calls_execve", 1), ("calls_futex", 9), ("calls_brk", 1)],
            20,
        );
        let longer = counted(
            &[("calls", 175), ("calls_recvfrom", 120), ("calls_execve", 1), ("calls_futex", 4), ("calls_sendto", 50)],
            120,
        );
        let measures = longer.beyond(&shorter).unwrap();
        let values: Vec<(&str, f64)> =
            measures.iter().map(|(name, measure)| (name.as_str(), measure.values[0])).collect();
        let known = [
            ("calls", 1.44),
            ("calls_brk", -0.01),
            ("calls_futex", -0.05),
            ("calls_recvfrom", 1.0),
            ("calls_sendto", 0.5),
        ];
        assert_eq!(values, known);
        assert!(shorter.beyond(&longer).is_err(), "operations that did not grow divide nothing");
    }

    #[test]
    fn measures_say_what_was_counted() {
        assert_eq!(Count::named("calls"), Some(Count::SystemCalls));
        assert_eq!(Count::named("calls_recvfrom"), Some(Count::SystemCalls));
        assert_eq!(Count::named("instructions_atomic"), Some(Count::Instructions));
        assert_eq!(Count::named("elapsed"), None);
    }
}
