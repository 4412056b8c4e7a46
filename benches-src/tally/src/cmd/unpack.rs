//! `tally unpack`: a machine's raw samples, as files of lines.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::project::{Machine, Project};
use crate::record::store::{Store, machine_or_session};
use crate::say;

/// Write a machine's records with all raw samples as files of JSON lines
#[derive(Args)]
pub struct Unpack {
    /// A folder of data/machines, or one session of it: NAME/2026-11-25-2
    slug: String,
    /// Where to [default: target/unpacked/SLUG]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

impl Unpack {
    /// Writes FOLDER/SESSION/CHAPTER/EXPERIMENT.jsonl, and never over a file that is there.
    pub fn run(&self, project: &Project) -> Result<()> {
        let machine = machine_or_session(project, &self.slug)?;
        ensure!(machine != Machine::Local, "the records of this checkout are files of lines already: data/local");
        let store = Store::open(project, &machine);
        if let Some(unreadable) = store.unreadable() {
            bail!("{unreadable}");
        }
        ensure!(!store.sessions().is_empty(), "{} has no sessions", machine.slug());
        let own = project.data(&machine);
        let of_machine = || project.unpacked().join(own.file_name().unwrap_or_default());
        let to = self.to.clone().unwrap_or_else(of_machine);
        for session in store.sessions() {
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
