//! A process that puts back what was moved, whatever becomes of the one that moved it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::{fs, io};

use anyhow::{Context, Result, ensure};
use rustix::process::setsid;
use serde::{Deserialize, Serialize};

/// One thing to put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Undo {
    /// A file to write the old value into, unless somebody else has changed it meanwhile.
    Write {
        /// The file.
        path: PathBuf,
        /// What stood there.
        old: String,
        /// What stands there as long as nobody else changes it.
        new: String,
    },
    /// A control group to remove.
    RemoveGroup(PathBuf),
}

/// A guardian at work. When this is dropped, or its process ends in any way, what was moved is put back.
pub struct Guardian {
    process: Child,
}

const GUARD: &str = "guard";
const READY: &str = "ready";

impl Guardian {
    /// Starts a process of this program that will undo this, and returns once it is ready to.
    pub fn post(program: &Path, undo: &Undo) -> Result<Self> {
        let mut process = Command::new(program)
            .args([GUARD, &serde_json::to_string(undo)?])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // In a group of its own at once, so that what is sent to the whole of this one does not reach it.
            .process_group(0)
            .spawn()
            .context("cannot start a guardian")?;
        let mut said = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut said)?;
        ensure!(said.trim() == READY, "the guardian is not ready, so nothing is moved");
        Ok(Self { process })
    }

    /// Has everything put back, and says whether it was.
    pub fn dismiss(mut self) -> Result<()> {
        drop(self.process.stdin.take());
        let status = self.process.wait()?;
        ensure!(status.success(), "the guardian could not put back what was moved; see its message above");
        Ok(())
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // Its input ends, and it has put everything back when it has ended.
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}

/// What a guardian does, if the command line says that this process is one: waits until whoever holds the other end of its input
/// has ended, then puts back. Nothing if it does not say so.
pub fn guard() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, word, undo] = &arguments[..] else { return None };
    (word == GUARD).then(|| match keep_guard(undo) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    })
}

fn keep_guard(undo: &str) -> Result<()> {
    let undo: Undo = serde_json::from_str(undo).context("a guardian's order cannot be read")?;
    setsid().ok();
    let mut out = io::stdout();
    writeln!(out, "{READY}")?;
    out.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    undo.carry_out()
}

impl Undo {
    fn carry_out(&self) -> Result<()> {
        match self {
            Self::Write { path, old, new } => {
                let stands = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                if stands.trim() == new.trim() {
                    fs::write(path, old).with_context(|| format!("cannot write {old} into {}", path.display()))?;
                }
                Ok(())
            }
            Self::RemoveGroup(folder) => remove_group(folder),
        }
    }
}

/// A group can be removed once the last thread in it has ended, which takes a while after so many.
fn remove_group(folder: &Path) -> Result<()> {
    for _ in 0..600 {
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    }
    fs::remove_dir(folder).context("a control group of this program's cannot be removed")
}
