//! Units of another language, in a process of their own that does what it is asked for line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs, process};

use anyhow::{Context, Result, ensure};
use harness::Unavailable;

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

/// The first of these commands that is there, by its name or by the place where its makers put it.
pub fn first_of(commands: &[&'static str], cure: &str) -> Result<&'static str> {
    let is_there = |command: &&&str| {
        let (folders, name) = (env::var_os("PATH").unwrap_or_default(), Path::new(command));
        env::split_paths(&folders).any(|folder| folder.join(name).is_file())
    };
    commands.iter().find(is_there).copied().ok_or_else(|| Unavailable::because(cure))
}

/// What a compiler says.
pub fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {error}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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
    fn a_compiler_is_found_by_its_name_or_its_place_and_else_it_is_said_what_to_do() {
        assert_eq!(first_of(&["no-such-compiler", "sh"], "").unwrap(), "sh");
        assert_eq!(first_of(&["no-such-compiler", "/bin/sh"], "").unwrap(), "/bin/sh");
        let cure = "it is not installed; install it";
        let refused = first_of(&["no-such-compiler", "/no/such/compiler"], cure).unwrap_err();
        assert_eq!(refused.to_string(), format!("unavailable, because {cure}"));
    }

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
        assert!(said(&mut Command::new("false")).unwrap_err().to_string().contains("ended with exit status: 1"));
    }
}
