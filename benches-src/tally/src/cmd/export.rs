//! `tally export`: local results become a machine of the book. Only what is on the allow-list goes along, and nothing private.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use tempfile::NamedTempFile;
use walkdir::WalkDir;

use crate::machine::{Facts, private_words};
use crate::plan::{Experiment, Plan, Plans};
use crate::project::{Machine, Project};
use crate::record::{Effort, FORMAT, Record};
use crate::sources::Current;

/// Copy local results to data/machines, without anything private
#[derive(Args)]
pub struct Export {
    /// The machine's name: lower-case words with hyphens, such as amd-epyc-2cpu-vm
    slug: String,
}

/// A record that may be exported.
struct Ready {
    from: PathBuf,
    to: PathBuf,
    record: Record,
}

impl Export {
    /// Exports every complete record.
    pub fn run(&self, project: &Project) -> Result<()> {
        let well_formed = self
            .slug
            .split('-')
            .all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
        ensure!(
            well_formed && !["local", "reference"].contains(&self.slug.as_str()),
            "{:?} is no name for a machine; use lower-case words with hyphens, such as amd-epyc-2cpu-vm",
            self.slug
        );
        let machine = Machine::Exported(self.slug.clone());
        let plans = Plans::load(project)?;
        // All are read and checked before the first is written.
        let mut ready = Vec::new();
        let mut warnings = Vec::new();
        for (plan, experiment) in plans.experiments() {
            let Some(one) = prepare(project, &machine, plan, experiment)? else { continue };
            warnings.extend(staleness(project, plan, experiment, &one)?);
            ready.push(one);
        }
        if ready.is_empty() {
            bail!("there are no local records to export; run: cargo tally measure --effort full");
        }
        let there = records_in(&project.data(&machine));
        of_one_machine(&ready, &there)?;
        write(&ready)?;
        let is_planned = |path: &PathBuf| {
            plans.experiments().any(|(plan, own)| *path == project.record(&machine, &plan.chapter, &own.name))
        };
        let left_over = there.iter().filter(|path| !is_planned(path));
        warnings.extend(left_over.map(|path| format!("{} is of no experiment of any plan any more", path.display())));
        for warning in warnings {
            eprintln!("tally: warning: {warning}");
        }
        Ok(())
    }
}

/// A local record as it would be exported: in the format of today and without what is not on the allow-list.
fn prepare(project: &Project, machine: &Machine, plan: &Plan, experiment: &Experiment) -> Result<Option<Ready>> {
    let path = |machine: &Machine| project.record(machine, &plan.chapter, &experiment.name);
    let from = path(&Machine::Local);
    let Some(mut record) = Record::load(&from)? else { return Ok(None) };
    ensure!(record.header.effort != Effort::Test, "{} is of a test run, whose figures are no results", from.display());
    record.header.format = FORMAT;
    record.header.machine = record.header.machine.allow_listed();
    refuse_private(&record).with_context(|| format!("{} is not exported", from.display()))?;
    Ok(Some(Ready { from, to: path(machine), record }))
}

/// What is said of a record that is not of the listings and plans that lie here.
fn staleness(project: &Project, plan: &Plan, experiment: &Experiment, ready: &Ready) -> Result<Option<String>> {
    let current = Current::read(project, &plan.chapter, experiment)?;
    let complaint = ready.record.header.sources.freshness(&current).complaint();
    Ok(complaint.map(|complaint| format!("{} was {complaint}; run: {}", ready.from.display(), experiment.command())))
}

/// The records that lie in a machine's folder.
fn records_in(folder: &Path) -> Vec<PathBuf> {
    let files = WalkDir::new(folder).sort_by_file_name().into_iter().flatten().map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

/// What stands under one name is of one machine: the records themselves, and those that lie there already.
fn of_one_machine(ready: &[Ready], there: &[PathBuf]) -> Result<()> {
    let Some(first) = ready.first() else { return Ok(()) };
    let agrees = |path: &Path, machine: &Facts, cure: &str| {
        let facts = first.record.header.machine.differences(machine);
        let (path, facts, first) = (path.display(), facts.join(", "), first.from.display());
        ensure!(facts.is_empty(), "{path} is of another machine than {first}: they differ in {facts}; {cure}");
        Ok(())
    };
    for one in ready {
        agrees(&one.from, &one.record.header.machine, "measure again what is of the machine as it was before")?;
    }
    for path in there {
        if let Some(header) = Record::load_header(path)? {
            agrees(
                path,
                &header.machine,
                "use another name, or remove that folder if it is this machine as it was before",
            )?;
        }
    }
    Ok(())
}

/// Writes all beside their places before the first takes its own, so that a full disk leaves what was there.
fn write(ready: &[Ready]) -> Result<()> {
    let written: Vec<NamedTempFile> = ready.iter().map(beside).collect::<Result<_>>()?;
    for (file, one) in written.into_iter().zip(ready) {
        file.persist(&one.to).with_context(|| format!("cannot write {}", one.to.display()))?;
        eprintln!("tally: wrote {}", one.to.display());
    }
    Ok(())
}

/// A record in a file that is removed again if it is not given a place.
fn beside(one: &Ready) -> Result<NamedTempFile> {
    let folder = one.to.parent().context("a record lies in a folder")?;
    let write = || -> Result<NamedTempFile> {
        fs::create_dir_all(folder)?;
        let readable = Permissions::from_mode(0o644);
        let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(folder)?;
        one.record.write(&mut file)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    write().with_context(|| format!("cannot write {}; nothing was exported", one.to.display()))
}

/// Whether a word stands there by itself: the user `user` is not in `user_ns`.
fn contains_word(text: &str, word: &str) -> bool {
    let is_within = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (text[..start].chars().next_back(), text[start + word.len()..].chars().next());
        !before.is_some_and(is_within) && !after.is_some_and(is_within)
    })
}

fn refuse_private(record: &Record) -> Result<()> {
    let text = serde_json::to_string(&record.header)? + &serde_json::to_string(&record.runs)?;
    for word in private_words() {
        ensure!(
            !contains_word(&text, &word),
            "it contains {word:?}, which is this host's, this user's or a folder's name; look for it and measure again"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_where_it_stands_by_itself() {
        for (text, found) in
            [("user_ns", false), ("superuser", false), ("/home/user/x", true), ("user", true), ("rustc user.", true)]
        {
            assert_eq!(contains_word(text, "user"), found, "{text}");
        }
    }
}
