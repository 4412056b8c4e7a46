//! `tally export`: local results become a machine of the book. Only what is on the allow-list goes along, and nothing private.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use tempfile::NamedTempFile;
use walkdir::WalkDir;

use crate::book::experiment::Experiment;
use crate::book::plan::{Plan, Plans};
use crate::project::{Machine, Project, check_machine};
use crate::record::machine::{Facts, State};
use crate::record::private::{private_names, without_folders};
use crate::record::sources::Current;
use crate::record::{EARLIER, Effort, FORMAT, Record, aside, earlier_paths, keep_beside};
use crate::say;

/// Copy local results to data/machines, without anything private
#[derive(Args)]
pub struct Export {
    /// The machine's name: lower-case words with hyphens, such as amd-epyc-2cpu-vm
    slug: String,
}

/// A record that may be exported.
struct Ready {
    from: PathBuf,
    /// The place of the record that it is, or of which it is an earlier session.
    to: PathBuf,
    is_earlier: bool,
    record: Record,
}

impl Export {
    /// Exports every complete record.
    pub fn run(&self, project: &Project) -> Result<()> {
        check_machine(&self.slug)?;
        let machine = Machine::Exported(self.slug.clone());
        let plans = Plans::load(project)?;
        // All are read and checked before the first is written.
        let names = telling_names(project);
        let mut ready = Vec::new();
        let mut warnings = Vec::new();
        for (plan, experiment) in plans.experiments() {
            let of_one = prepare(project, &machine, &names, plan, experiment)?;
            for one in of_one.iter().filter(|one| !one.is_earlier) {
                warnings.extend(staleness(project, plan, experiment, one)?);
                warnings.extend(deaths(one));
            }
            ready.extend(of_one);
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
            say!("tally: warning: {warning}");
        }
        Ok(())
    }
}

/// A local record and the earlier sessions of the same, as they would be exported: in the format of today and without what is not on the
/// allow-list. Earlier sessions come first, so that the record is never without them.
fn prepare(
    project: &Project,
    machine: &Machine,
    names: &[String],
    plan: &Plan,
    experiment: &Experiment,
) -> Result<Vec<Ready>> {
    let path = |machine: &Machine| project.record(machine, &plan.chapter, &experiment.name);
    let own = path(&Machine::Local);
    let Some(record) = Record::load(&own)? else { return Ok(Vec::new()) };
    ensure!(record.header.effort != Effort::Test, "{} is of a test run, whose figures are no results", own.display());
    let mut all = Vec::new();
    for from in earlier_paths(&own)? {
        let earlier = Record::load(&from)?.filter(|own| own.header.is_another_session_of(&record.header));
        all.extend(earlier.map(|earlier| (from, true, earlier)));
    }
    all.push((own, false, record));
    let ready = |(from, is_earlier, mut record): (PathBuf, bool, Record)| {
        record.header.format = FORMAT;
        record.header.machine = record.header.machine.allow_listed();
        let refused = refuse_private(project, names, &record).and_then(|()| refuse_failures(&record, experiment));
        refused.with_context(|| format!("{} is not exported", from.display()))?;
        Ok(Ready { from, to: path(machine), is_earlier, record })
    };
    all.into_iter().map(ready).collect()
}

/// What is said of a record that is not of the listings and plans that lie here.
fn staleness(project: &Project, plan: &Plan, experiment: &Experiment, ready: &Ready) -> Result<Option<String>> {
    let current = Current::read(project, &plan.chapter, experiment)?;
    let complaint = ready.record.header.sources.freshness(&current).complaint();
    Ok(complaint.map(|complaint| format!("{} was {complaint}; run: {}", ready.from.display(), experiment.command())))
}

/// What is said of a record that some processes have left no number in. Its pages say so too.
fn deaths(ready: &Ready) -> Option<String> {
    let all: Vec<usize> = (0..ready.record.header.cells.len()).collect();
    Some(format!("{}: {}", ready.from.display(), ready.record.lost(&all)?.words()))
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
        let begun = |path: &PathBuf| Ok(Record::load_header(path)?.map(|header| header.before));
        let there = [one.to.clone()].into_iter().chain(earlier_paths(&one.to)?);
        let there: Vec<Option<State>> = there.map(|path| begun(&path)).collect::<Result<_>>()?;
        let is_there = there.contains(&Some(one.record.header.before.clone()));
        let to = match one.is_earlier {
            true if is_there => continue,
            true => aside(&one.to, EARLIER),
            false => {
                let replaced = Record::load_header(&one.to)?;
                if replaced.is_some_and(|replaced| one.record.header.is_another_session_of(&replaced)) {
                    keep_beside(&one.to, EARLIER)?;
                }
                one.to.clone()
            }
        };
        file.persist(&to).with_context(|| format!("cannot write {}", to.display()))?;
        say!("tally: wrote {}", to.display());
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

/// Whether a sign belongs to the word that stands beside it.
fn is_within(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Whether a word stands there by itself: the user `user` is not in `user_ns`.
fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (text[..start].chars().next_back(), text[start + word.len()..].chars().next());
        !before.is_some_and(is_within) && !after.is_some_and(is_within)
    })
}

/// A record of failures alone is worth nothing to anybody else, and of a cell there are none.
fn refuse_failures(record: &Record, experiment: &Experiment) -> Result<()> {
    let observed = record.observed();
    for (index, cell) in record.header.cells.iter().enumerate() {
        let lost = record.lost(&[index]).filter(|_| !observed.contains(&index));
        ensure!(lost.is_none(), "every process of {cell} failed; see why, mend it, and run: {}", experiment.command());
    }
    Ok(())
}

/// What others wrote that came into a record: what failed programs said, why something is missing, and what is known of the machine. All else
/// is this book's own words and numbers, whatever a host or a user is called.
fn of_others(record: &Record) -> Vec<&str> {
    let facts = &record.header.machine;
    let said = record.runs.iter().filter_map(|run| run.failure.as_ref());
    let said = said.flat_map(|failure| [&failure.exit].into_iter().chain(&failure.last_lines));
    let observed = record.runs.iter().filter_map(|run| run.observation.as_ref());
    let missing = observed.flat_map(|seen| seen.unavailable.values().chain(&seen.doubts));
    let facts = facts.known.values().chain(facts.unavailable.values());
    said.chain(missing).chain(facts).chain(&record.header.revision).map(String::as_str).collect()
}

fn refuse_private(project: &Project, names: &[String], record: &Record) -> Result<()> {
    for text in of_others(record) {
        let without = without_folders(text, project.root());
        ensure!(without == text, "it names a folder of this machine in {text:?}; measure again");
        for name in names {
            ensure!(
                !contains_word(text, name),
                "it contains {name:?}, which is this host's or this user's name; look for it and measure again"
            );
        }
    }
    Ok(())
}

/// The names of this host and this user, but for those that are words of the programs or of what they stand on: none of these gives them away.
fn telling_names(project: &Project) -> Vec<String> {
    let own = own_words(project);
    private_names().into_iter().filter(|name| !own.contains(name)).collect()
}

fn own_words(project: &Project) -> BTreeSet<String> {
    let files =
        WalkDir::new(project.benches()).into_iter().filter_entry(|entry| entry.file_name() != "tally").flatten();
    let sources = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"));
    let texts = sources.filter_map(|file| fs::read_to_string(file.path()).ok());
    let words = |text: String| text.split(|sign: char| !is_within(sign)).map(str::to_owned).collect::<Vec<_>>();
    texts.flat_map(words).collect()
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
