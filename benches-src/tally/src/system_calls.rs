//! Counts system calls exactly. A program is run under strace for fewer laps and for more; what it does to set up and to end
//! is in both runs, so the difference is what the laps did.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use observation::{Measure, Observation};

use crate::expression::{ALL_CALLS, CALLS_OF_A_KIND};

/// The laps of the shorter and of the longer run.
pub const LAPS: [u64; 2] = [10, 60];

/// Why nothing is counted where strace is not to be found.
pub const NOT_INSTALLED: &str = "strace is not installed; on Debian: apt-get install strace";

/// What one run did.
pub struct Counted {
    /// System calls by kind, set-up and end among them.
    pub calls: BTreeMap<String, u64>,
    /// Operations in its laps.
    pub operations: u64,
}

impl Counted {
    /// From strace's summary and what the program itself reported.
    pub fn new(summary: &str, seen: &Observation) -> Result<Self> {
        Ok(Self { calls: parse(summary)?, operations: seen.samples.iter().map(|sample| sample.operations).sum() })
    }

    /// System calls per operation, of all kinds and of each that was seen, given a shorter run of the same program. Kinds of
    /// which the laps did none are left out. A kind of which threads do now more and now fewer can come out below 0.
    pub fn beyond(&self, shorter: &Self) -> Result<BTreeMap<String, Measure>> {
        ensure!(self.operations > shorter.operations, "more laps did not mean more operations");
        let operations = (self.operations - shorter.operations) as f64;
        let of = |counted: &Self, kind: &String| counted.calls.get(kind).copied().unwrap_or(0) as f64;
        let per_operation = |calls: f64| Measure { unit: "1".to_owned(), values: vec![calls / operations] };
        let mut measures = BTreeMap::new();
        let mut all = 0.0;
        for kind in self.calls.keys().chain(shorter.calls.keys()).collect::<std::collections::BTreeSet<_>>() {
            let calls = of(self, kind) - of(shorter, kind);
            all += calls;
            if calls != 0.0 {
                measures.insert(format!("{CALLS_OF_A_KIND}{kind}"), per_operation(calls));
            }
        }
        measures.insert(ALL_CALLS.to_owned(), per_operation(all));
        Ok(measures)
    }
}

/// Reads the table that `strace -c` writes, by the columns that every version has: the fourth is the number of calls, the last
/// the name; the number of errors between them may be absent.
fn parse(summary: &str) -> Result<BTreeMap<String, u64>> {
    let mut calls = BTreeMap::new();
    for line in summary.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_row = words.first().is_some_and(|word| word.parse::<f64>().is_ok());
        let Some(name) = words.last().filter(|name| is_row && **name != "total") else { continue };
        let unread = || format!("strace wrote {line:?} where a row of its summary was expected; which version is it?");
        let number = words.get(3).filter(|_| words.len() > 4).and_then(|word| word.parse::<u64>().ok());
        *calls.entry((*name).to_owned()).or_default() += number.with_context(unread)?;
    }
    ensure!(!calls.is_empty(), "strace wrote no summary");
    Ok(calls)
}

/// Where strace lies, if it is installed.
pub fn strace() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join("strace"))
        .find(|file| fs::metadata(file).is_ok_and(|f| f.is_file()))
}

/// Why strace may not look at a program, by what it wrote to standard error.
pub fn refused(errors: &str) -> Option<String> {
    let complains = |line: &&str| line.contains("strace: ") && line.to_lowercase().contains("ptrace");
    let line = errors.lines().find(complains)?;
    Some(format!("strace was refused ({line}); it needs ptrace: in a container, --cap-add=SYS_PTRACE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 62.00    0.001310          10       120        60 recvfrom
 38.00    0.000803          18        60           sendto
  0.00    0.000000           0         1         1 access
------ ----------- ----------- --------- --------- ----------------
100.00    0.002113          12       181        61 total
System call usage summary for 32 bit mode:
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
  0.00    0.000000           0         3           sendto
";

    fn counted(calls: &[(&str, u64)], operations: u64) -> Counted {
        Counted { calls: calls.iter().map(|(name, calls)| ((*name).to_owned(), *calls)).collect(), operations }
    }

    #[test]
    fn the_summary_of_strace_is_read_with_and_without_errors() {
        let known = counted(&[("recvfrom", 120), ("sendto", 63), ("access", 1)], 0).calls;
        assert_eq!(parse(SUMMARY).unwrap(), known);
    }

    #[test]
    fn what_is_no_summary_is_said() {
        assert_eq!(parse("").unwrap_err().to_string(), "strace wrote no summary");
        let error = parse("1.00 0.1 many read\n").unwrap_err().to_string();
        assert!(error.contains("1.00 0.1 many read") && error.contains("which version"), "{error}");
    }

    #[test]
    fn set_up_and_end_fall_out() {
        let shorter = counted(&[("recvfrom", 20), ("execve", 1), ("futex", 9), ("brk", 1)], 20);
        let longer = counted(&[("recvfrom", 120), ("execve", 1), ("futex", 4), ("sendto", 50)], 120);
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
    fn a_refusal_is_told_from_a_program_that_fails() {
        let refusal = "/usr/bin/strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n";
        assert!(refused(refusal).unwrap().contains("SYS_PTRACE"));
        assert_eq!(refused("error: out of luck\n"), None);
    }
}
