//! What is known of programs besides what lies here: which machine code does the same work as
//! which, and what older records were made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use plans::book::plan_file;
use plans::name;
use plans::project::Project;
use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use super::beneath::{Beneath, HARNESS, beneath};
use super::checksum::hash;
use super::programs::{Compiled, Programs};
use super::sources::Sources;
use super::tokens;

/// How it begins what is said of a program that is another one now and does the same work.
pub const REWRITTEN: &str = "rewritten";

/// All that decides how fresh records are.
#[derive(Debug, Default)]
pub struct Known {
    /// The programs that lie here.
    pub today: Programs,
    /// What stands beneath each chapter's programs, the harness among it.
    pub beneath: BTreeMap<String, Beneath>,
    pub harness: String,
    /// Records that were made before they said what runs.
    pub older_records: OlderRecords,
    pub equivalences: Vec<Equivalence>,
}

/// Two builds of a program that do the same work, by `cargo tally compare-builds`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalence {
    pub program: String,
    /// What the one is known by: its machine code, or its sources where that cannot be read.
    pub before: String,
    /// The same of the other, or its sources where they are those of the one.
    pub after: String,
    /// What shows it, as pages say it; nothing where what runs while the clock does is the same, or
    /// where the sources are, since what stands beneath them speaks for itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// What was counted or measured of each cell, or which functions differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
}

impl Equivalence {
    /// Whether it is of these two builds of a program.
    pub fn is_of(&self, program: &str, before: &str, after: &str) -> bool {
        (self.program.as_str(), self.before.as_str(), self.after.as_str()) == (program, before, after)
    }
}

/// The file that lists them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalences {
    #[serde(default, rename = "same_work")]
    pub all: Vec<Equivalence>,
}

/// What records that say nothing of machine code were made of, found out once from the repository's
/// history: each beside one revision of it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderRecords {
    /// What that revision has.
    #[serde(default)]
    pub base: Base,
    /// By experiment and seed, which no two records share.
    #[serde(default)]
    pub record: BTreeMap<String, OlderRecord>,
}

/// A revision.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Each program.
    #[serde(default)]
    pub program: BTreeMap<String, Compiled>,
    /// What stands beneath each chapter's programs.
    #[serde(default)]
    pub beneath: BTreeMap<String, BTreeMap<String, String>>,
    /// What is said of programs that were rewritten before, and took as long side by side.
    #[serde(default)]
    pub alike: String,
}

/// A record beside that revision. Of programs that are in neither list, it was measured with other
/// ones; "all" stands for all of its programs.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderRecord {
    /// Programs that are the same there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub same: BTreeSet<String>,
    /// Programs that were rewritten, and took as long side by side.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub alike: BTreeSet<String>,
    /// What differs beneath them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub older: BTreeSet<String>,
}

impl Known {
    /// Reads all of it.
    pub fn load(project: &Project) -> Result<Arc<Self>> {
        let today = Programs::read(project)?;
        let harness = harness(project)?;
        let of_chapter = |chapter: String| Ok((chapter.clone(), beneath(project, &chapter, &harness, &today)?));
        let beneath = project.chapters()?.into_iter().map(of_chapter).collect::<Result<_>>()?;
        let equivalences: Equivalences = plan_file::read_if_any(project, &project.equivalences())?;
        let older_records = plan_file::read_if_any(project, &project.older_records())?;
        Ok(Arc::new(Self { today, beneath, harness, older_records, equivalences: equivalences.all }))
    }

    /// What is said of a program that is known by these keys and does the work of today's: nothing
    /// where it is today's. None where it is not known to.
    pub fn does_the_work_of(&self, program: &str, keys: &[&str]) -> Option<BTreeSet<String>> {
        self.leads_to(program, keys, self.today.keys.get(program)?)
    }

    /// Whether what was measured with another harness would be the same with today's.
    pub fn is_todays_harness(&self, then: &str) -> bool {
        self.leads_to(HARNESS, &[then], &BTreeSet::from([self.harness.clone()])).is_some()
    }

    fn leads_to(&self, program: &str, keys: &[&str], today: &BTreeSet<String>) -> Option<BTreeSet<String>> {
        let mut reached: Vec<_> = keys.iter().map(|key| (*key, BTreeSet::new())).collect();
        let mut next = 0;
        while let Some((key, words)) = reached.get(next).cloned() {
            if today.contains(key) {
                return Some(words);
            }
            for own in self.equivalences.iter().filter(|own| own.program == program && own.before == key) {
                if reached.iter().all(|(known, _)| *known != own.after) {
                    let mut words = words.clone();
                    words.extend(Some(own.because.clone()).filter(|because| !because.is_empty()));
                    reached.push((&own.after, words));
                }
            }
            next += 1;
        }
        None
    }
}

impl OlderRecords {
    pub fn get(&self, experiment: &str, seed: u64) -> Option<&OlderRecord> {
        self.record.get(&format!("{experiment}-{seed}"))
    }

    /// What a record of a chapter would have said that was made of that revision.
    pub fn as_of_base(&self, chapter: &str) -> Sources {
        let beneath = self.base.beneath.get(chapter).cloned().unwrap_or_default();
        let code = self.base.program.iter().map(|(name, own)| (name.clone(), own.code.clone())).collect();
        Sources { own: BTreeMap::new(), beneath, code: Some(code) }
    }

    /// What is said of a program's numbers in a record; none where it was another program.
    pub fn of<'a>(&'a self, record: &OlderRecord, program: &str) -> Option<Option<&'a String>> {
        let has = |programs: &BTreeSet<String>| programs.contains(program) || programs.contains("all");
        if has(&record.same) {
            return Some(None);
        }
        has(&record.alike).then_some(Some(&self.base.alike))
    }
}

/// The hash of what every program is measured by.
fn harness(project: &Project) -> Result<String> {
    let folders = ["harness/src", "observation/src"].map(|folder| project.benches().join(folder));
    let is_own = |entry: &DirEntry| entry.depth() == 0 || name::is_ones_own(entry.file_name());
    let entries =
        folders.iter().flat_map(|folder| WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_own));
    let mut said = String::new();
    for entry in entries {
        let entry = entry.context("cannot list benches-src/harness or benches-src/observation")?;
        if entry.path().extension().is_some_and(|extension| extension == "rs") && entry.file_name() != "tests.rs" {
            said += &tokens::hash_of(entry.path())?;
        }
    }
    Ok(hash(said.as_bytes()))
}
