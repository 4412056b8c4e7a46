//! Units of another language, in a process of their own that does what it is asked for line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs, process};

use anyhow::{Context, Result};

use crate::rival::Rival;

/// Such a process.
pub struct Foreign {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    compiler: String,
    /// What it was started from. It is gone after the process.
    _folder: Folder,
}

impl Foreign {
    /// Starts the file `units` of this folder, which was made by this compiler.
    pub fn start(folder: Folder, compiler: String) -> Result<Self> {
        let mut units = Command::new(folder.0.join("units"));
        let mut child = units.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start the units")?;
        let (ask, answers) = (child.stdin.take().context("it is piped")?, child.stdout.take().context("it is piped")?);
        Ok(Self { child, ask, answers: BufReader::new(answers), compiler, _folder: folder })
    }

    fn ask(&mut self, what: &str, count: u64) -> Result<Duration> {
        writeln!(self.ask, "{what} {count}").context("the units' process has ended")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let ns = answer.trim().parse().with_context(|| format!("the units' process answered {answer:?}"))?;
        Ok(Duration::from_nanos(ns))
    }
}

impl Rival for Foreign {
    fn process(&self) -> u32 {
        self.child.id()
    }

    fn hold(&mut self, more: u64) -> Result<()> {
        self.ask("hold", more).map(drop)
    }

    fn create(&mut self, count: u64) -> Result<Duration> {
        self.ask("create", count)
    }

    fn hop(&mut self, count: u64) -> Result<Duration> {
        self.ask("hop", count)
    }

    fn doubts(&self) -> Vec<String> {
        vec![format!("another compiler: {}", self.compiler)]
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder of its own, which is gone afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    /// An empty one.
    pub fn new() -> Result<Self> {
        let path = env::temp_dir().join(format!("tasks-beside-threads-units-{}", process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that is left there does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_gone_after_the_process_that_was_started_from_it() {
        let folder = Folder::new().unwrap();
        let path = folder.0.clone();
        std::os::unix::fs::symlink("/bin/cat", path.join("units")).unwrap();
        let mut foreign = Foreign::start(folder, "nobody".to_owned()).unwrap();
        let error = foreign.hold(3).unwrap_err();
        assert!(error.to_string().contains("answered \"hold 3\\n\""), "{error}");
        assert!(path.exists() && path.starts_with(env::temp_dir()));
        drop(foreign);
        assert!(!path.exists());
    }
}
