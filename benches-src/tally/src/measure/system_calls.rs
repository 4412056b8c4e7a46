//! System calls, as strace counts them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::book::count::Count;

/// Reads the table that `strace -c` writes, by the columns that every version has: the fourth is
/// the number of calls, the last the name; the number of errors between them may be absent.
pub fn parse(summary: &str) -> Result<BTreeMap<String, u64>> {
    let count = Count::SystemCalls;
    let mut calls = BTreeMap::<String, u64>::new();
    for line in summary.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_row = words.first().is_some_and(|word| word.parse::<f64>().is_ok());
        let Some(name) = words.last().filter(|name| is_row && **name != "total") else { continue };
        let unread = || format!("strace wrote {line:?} where a row of its summary was expected; which version is it?");
        let number = words.get(3).filter(|_| words.len() > 4).and_then(|word| word.parse::<u64>().ok());
        *calls.entry(format!("{}{name}", count.of_a_kind())).or_default() += number.with_context(unread)?;
    }
    ensure!(!calls.is_empty(), "strace wrote no summary");
    calls.insert(count.all().to_owned(), calls.values().sum());
    Ok(calls)
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

    #[test]
    fn the_summary_of_strace_is_read_with_and_without_errors() {
        let calls = parse(SUMMARY).unwrap();
        let known = [("calls", 184), ("calls_access", 1), ("calls_recvfrom", 120), ("calls_sendto", 63)];
        assert!(calls.iter().map(|(name, number)| (name.as_str(), *number)).eq(known), "{calls:?}");
    }

    #[test]
    fn what_is_no_summary_is_said() {
        assert_eq!(parse("").unwrap_err().to_string(), "strace wrote no summary");
        let error = parse("1.00 0.1 many read\n").unwrap_err().to_string();
        assert!(error.contains("1.00 0.1 many read") && error.contains("which version"), "{error}");
    }

    #[test]
    fn a_refusal_is_told_from_a_program_that_fails() {
        let refusal = "/usr/bin/strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n";
        assert!(refused(refusal).unwrap().contains("SYS_PTRACE"));
        assert_eq!(refused("error: out of luck\n"), None);
    }
}
