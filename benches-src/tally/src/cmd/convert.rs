//! `tally convert`: machines' folders as they were before there were sessions, a file of lines for each record, become sessions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use walkdir::WalkDir;

use crate::project::{Machine, Project};
use crate::record::contributed::{Contributed, add};
use crate::record::{FORMAT, RawRecord, smuggled};
use crate::say;

/// Turn files of records in data/machines, as older tallies exported them, into sessions
#[derive(Args)]
pub struct Convert {}

/// A record as it lay there.
struct Old {
    path: PathBuf,
    record: RawRecord,
}

impl Convert {
    /// Converts every machine's folder. The old files are removed once what was written of them was read back.
    pub fn run(&self, project: &Project) -> Result<()> {
        for slug in project.machines()? {
            let machine = Machine::Exported(slug.clone());
            let old: Vec<Old> = old_files(&project.data(&machine)).into_iter().map(read).collect::<Result<_>>()?;
            if old.is_empty() {
                continue;
            }
            for path in add(project, &machine, old.iter().map(|old| old.record.clone()).collect())? {
                say!("tally: wrote {}", path.display());
            }
            verify(&Contributed::of(project, &machine), &old)?;
            remove(&old)?;
            say!("tally: {slug}: {} records are in sessions now, and their files were removed", old.len());
        }
        Ok(())
    }
}

/// The records of a folder's chapters, and the earlier sessions beside them.
fn old_files(folder: &Path) -> Vec<PathBuf> {
    let files = WalkDir::new(folder).min_depth(2).max_depth(2).sort_by_file_name().into_iter().flatten();
    let is_old = |name: &str| {
        let ending = name.split_once('.').map(|(_, ending)| ending.split('-').next().unwrap_or(ending));
        matches!(ending, Some("jsonl" | "jsonl.session"))
    };
    let old = files.filter(|file| file.file_type().is_file() && is_old(&file.file_name().to_string_lossy()));
    old.map(walkdir::DirEntry::into_path).collect()
}

/// Reads it whole: what the format of records does not have would be lost.
fn read(path: PathBuf) -> Result<Old> {
    let place = path.display().to_string();
    let mut record = RawRecord::load(&path)?.with_context(|| format!("{place} is gone"))?;
    let more = smuggled(&fs::read_to_string(&path)?).with_context(|| place.clone())?;
    let line = more.unwrap_or_default();
    ensure!(
        more.is_none(),
        "{place}, line {line}: holds something that the format of records does not have; remove it"
    );
    let listed = record.header.machine.allow_listed();
    ensure!(
        listed == record.header.machine,
        "{place} holds facts about the machine that are not on the allow-list; remove them"
    );
    record.header.format = FORMAT;
    Ok(Old { path, record })
}

/// Every record is in some bundle as it was.
fn verify(written: &Contributed, old: &[Old]) -> Result<()> {
    ensure!(written.unreadable.is_empty(), "{}", written.unreadable.join("\n"));
    let mut there = Vec::new();
    for session in &written.sessions {
        there.extend(session.records_as_written()?);
    }
    for old in old {
        ensure!(there.contains(&old.record), "{} is in no session as it was; nothing was removed", old.path.display());
    }
    Ok(())
}

fn remove(old: &[Old]) -> Result<()> {
    for Old { path, .. } in old {
        fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
        // What else lies in the chapter's folder stays, and the folder with it.
        let _ = path.parent().map(fs::remove_dir);
    }
    Ok(())
}
