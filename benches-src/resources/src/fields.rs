//! What the kernel says of a process or of the whole machine, in lines of a name, a colon and a
//! number.

use std::borrow::Cow;
use std::fs;

use anyhow::{Context, Result};

/// Such a file, as it was when it was read.
pub struct Fields {
    path: Cow<'static, str>,
    text: String,
}

impl Fields {
    /// Reads a file such as `/proc/self/status`.
    pub fn of(path: impl Into<Cow<'static, str>>) -> Result<Self> {
        let path = path.into();
        let text = fs::read_to_string(&*path).with_context(|| format!("cannot read {path}"))?;
        Ok(Self { path, text })
    }

    /// What is given in kB there, in bytes.
    pub fn bytes(&self, name: &str) -> Result<u64> {
        let kib = self.value(name).and_then(|value| value.strip_suffix(" kB")?.parse::<u64>().ok());
        Ok(1024 * kib.with_context(|| format!("{} has no field {name} in kB", self.path))?)
    }

    /// A plain number.
    pub fn number(&self, name: &str) -> Result<u64> {
        let number = self.value(name).and_then(|value| value.parse().ok());
        number.with_context(|| format!("{} has no number {name}", self.path))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }
}

/// The memory that a process has: its pages, those that are shared by their share (Pss), and its
/// page tables. The process is a number, or `self`.
pub fn memory_bytes(process: &str) -> Result<u64> {
    let resident = Fields::of(format!("/proc/{process}/smaps_rollup"))?.bytes("Pss")?;
    Ok(resident + Fields::of(format!("/proc/{process}/status"))?.bytes("VmPTE")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_bytes_and_a_missing_one_is_named() {
        let text = "Rss:              20 kB\nPss_Dirty:         4 kB\nPss:             12 kB\nName:\tx\nThreads:\t3\n";
        let fields = Fields { path: "/proc/test".into(), text: text.to_owned() };
        assert_eq!(fields.bytes("Pss").unwrap(), 12 * 1024);
        assert_eq!(fields.bytes("Size").unwrap_err().to_string(), "/proc/test has no field Size in kB");
        assert!(fields.bytes("Name").is_err());
        assert_eq!(fields.number("Threads").unwrap(), 3);
        assert_eq!(fields.number("Name").unwrap_err().to_string(), "/proc/test has no number Name");
    }

    #[test]
    fn a_process_has_memory_and_one_that_is_none_is_named() {
        assert!(memory_bytes("self").unwrap() > 0);
        assert!(memory_bytes("none").unwrap_err().to_string().contains("/proc/none/smaps_rollup"));
    }
}
