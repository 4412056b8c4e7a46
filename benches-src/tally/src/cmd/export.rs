//! `tally export`: local results become a machine of the book. Only what is on the allow-list goes along, and nothing private.

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::machine::private_words;
use crate::plan::Plans;
use crate::project::{Machine, Project};
use crate::record::{Effort, Record, Writer};

/// Copy local results to data/machines, without anything private
#[derive(Args)]
pub struct Export {
    /// The machine's name: lower-case words with hyphens, such as amd-epyc-2cpu-vm
    slug: String,
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
        let mut ready = Vec::new();
        // All are read and checked before the first is written.
        for (plan, experiment) in plans.experiments() {
            let from = project.record(&Machine::Local, &plan.chapter, &experiment.name);
            let Some(record) = Record::load(&from)? else { continue };
            ensure!(
                record.header.effort != Effort::Test,
                "{} is of a test run, whose figures are no results",
                from.display()
            );
            let mut record = record;
            record.header.machine = record.header.machine.allow_listed();
            refuse_private(&record).with_context(|| format!("{} is not exported", from.display()))?;
            ready.push((project.record(&machine, &plan.chapter, &experiment.name), record));
        }
        if ready.is_empty() {
            bail!("there are no local records to export; run: cargo tally measure --effort full");
        }
        for (path, record) in ready {
            let mut writer = Writer::create(&path, &record.header)?;
            for run in &record.runs {
                writer.run(run)?;
            }
            writer.finish(record.end.as_ref().context("the record is not complete")?)?;
            eprintln!("tally: wrote {}", path.display());
        }
        Ok(())
    }
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
