//! `tally unpack`: a machine's raw samples, as files of lines.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::project::{Machine, Project};
use crate::record::contributed::{Contributed, Session};
use crate::say;

/// Write a machine's records with all raw samples as files of JSON lines
#[derive(Args)]
pub struct Unpack {
    /// A folder of data/machines
    slug: String,
    /// One of its sessions, such as 2026-11-25-2; all if none is named
    session: Option<String>,
    /// Where to [default: target/unpacked/SLUG]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

impl Unpack {
    /// Writes FOLDER/SESSION/CHAPTER/EXPERIMENT.jsonl, and never over a file that is there.
    pub fn run(&self, project: &Project) -> Result<()> {
        let machine = project.machine(&self.slug)?;
        ensure!(machine != Machine::Local, "the records of this checkout are files of lines already: data/local");
        let opened = Contributed::open(&project.data(&machine));
        ensure!(opened.unreadable.is_empty(), "{}", opened.unreadable.join("\n"));
        let is_wanted = |session: &&Session| self.session.as_ref().is_none_or(|name| session.name() == *name);
        let wanted: Vec<&Session> = opened.sessions.iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            let known: Vec<String> = opened.sessions.iter().map(Session::name).collect();
            let session = self.session.as_deref().unwrap_or_default();
            bail!("{} has no session {session:?}; there are: {}", machine.slug(), known.join(", "));
        }
        let to = self.to.clone().unwrap_or_else(|| project.unpacked().join(machine.slug()));
        for session in wanted {
            let folder = to.join(session.name());
            for (entry, lines) in session.digest.head.records.iter().zip(&*session.lines()?) {
                write(&folder.join(&entry.chapter).join(format!("{}.jsonl", entry.experiment)), lines)?;
            }
            say!("tally: wrote {} records to {}", session.digest.head.records.len(), folder.display());
        }
        Ok(())
    }
}

fn write(path: &std::path::Path, lines: &str) -> Result<()> {
    let folder = path.parent().context("it lies in a folder")?;
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::File::create_new(path)?.write_all(lines.as_bytes())
    };
    write().with_context(|| format!("cannot write {}; remove it, or name another folder with --to", path.display()))
}
