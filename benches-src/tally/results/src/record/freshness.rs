//! Whether what was measured is what lies here now, decided without compiling anything.
//!
//! A program is the same if its files say the same to the compiler, or if its machine code is the
//! same: either suffices. *stale*: what runs is another one. *older*: what stands beneath differs,
//! or what runs does and was shown to do the same work. Which cells a plan asks for decides
//! nothing: a record says itself which it has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Header;
use super::beneath::HARNESS;
use super::known::Known;
use super::programs::source;
use super::sources::Sources;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::renamed::Renamed;
use crate::project::Project;

/// What a record of an experiment would hold that was made now.
#[derive(Debug)]
pub struct Current {
    /// As far as it is known without compiling anything.
    pub sources: Sources,
    /// The programs that it runs, each with all whose code decides: itself, and those that it
    /// starts.
    pub programs: BTreeMap<String, BTreeSet<String>>,
    /// What cells of older records are called now.
    pub renamed: Vec<Renamed>,
    chapter: String,
    known: Arc<Known>,
}

/// How a record relates to the files that lie here now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// It was measured with exactly these.
    Fresh,
    /// What runs is the same, or does the same work; what happened since it was measured.
    Older(Vec<String>),
    /// Another listing than the one shown.
    Stale(Stale),
}

/// What makes a record stale, and which of its programs it still speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stale {
    /// The files that differ.
    pub what: Vec<String>,
    /// The programs that are not stale, each with what is said of its older numbers, if anything
    /// is.
    pub others: BTreeMap<String, Vec<String>>,
}

impl Freshness {
    pub fn word(&self) -> &'static str {
        match self {
            Freshness::Fresh => "fresh",
            Freshness::Older(_) => "older",
            Freshness::Stale(_) => "stale",
        }
    }

    /// What is said of a stale record, or of its numbers.
    pub fn complaint(&self) -> Option<String> {
        let Freshness::Stale(Stale { what, .. }) = self else { return None };
        Some(format!("measured before these changed: {}", what.join(", ")))
    }

    /// How fresh numbers of some of the record's programs are: others do not concern them.
    pub fn of<'a>(&self, programs: impl IntoIterator<Item = &'a str>) -> Self {
        let Freshness::Stale(Stale { others, .. }) = self else { return self.clone() };
        let words = programs.into_iter().map(|program| others.get(program)).collect::<Option<Vec<_>>>();
        words.map_or_else(|| self.clone(), |words| Self::not_stale(words.into_iter().flatten()))
    }

    fn not_stale<'a>(words: impl Iterator<Item = &'a String>) -> Self {
        let words: BTreeSet<&String> = words.collect();
        if words.is_empty() { Self::Fresh } else { Self::Older(words.into_iter().cloned().collect()) }
    }
}

impl Current {
    /// Looks at what an experiment depends on.
    pub fn read(plan: &Plan, experiment: &Experiment, known: &Arc<Known>) -> Self {
        let with_started = |program: &str| (program.to_owned(), plan.programs.with_started(program));
        let programs: BTreeMap<_, _> = experiment.programs().into_iter().map(with_started).collect();
        let all: BTreeSet<&String> = programs.values().flatten().collect();
        let files = all.iter().filter_map(|program| known.today.files.get(*program)).flatten();
        let own = files.map(|(file, hash)| (file.clone(), hash.clone())).collect();
        let beneath = known.beneath.get(&plan.chapter).map(|chapter| chapter.of(&all)).unwrap_or_default();
        let (chapter, renamed) = (plan.chapter.clone(), experiment.renamed.clone());
        let sources = Sources { own, beneath, code: None };
        Self { sources, programs, renamed, chapter, known: known.clone() }
    }

    /// How a record of this experiment relates to what lies here.
    pub fn freshness(&self, header: &Header) -> Freshness {
        let older_records = &self.known.older_records;
        let older = header.sources.code.is_none().then(|| older_records.get(&header.experiment, header.seed));
        let then = match older {
            // Its hashes are of other things than today's.
            Some(_) => &older_records.as_of_base(&self.chapter),
            None => &header.sources,
        };
        let mut beneath = differences(&then.beneath, &self.sources.beneath);
        let harness = then.beneath.get(HARNESS).is_some_and(|then| self.known.is_todays_harness(then));
        beneath.retain(|name| name != HARNESS || !harness);
        beneath.extend(older.flatten().iter().flat_map(|older| older.older.iter().cloned()));
        let beneath: Vec<String> = beneath.into_iter().map(|name| format!("{name} changed")).collect();
        let (mut what, mut others) = (BTreeSet::new(), BTreeMap::new());
        for (program, all) in &self.programs {
            let said = match older {
                Some(older) => {
                    let said = older.and_then(|older| older_records.of(older, program));
                    said.ok_or_else(|| BTreeSet::from([self.listing(program)]))
                }
                None => Ok(None),
            };
            match said.and_then(|said| Ok(self.same(all, then)?.into_iter().chain(said.cloned()))) {
                Ok(words) => {
                    drop(others.insert(program.clone(), words.chain(beneath.iter().cloned()).collect::<Vec<_>>()))
                }
                Err(differ) => what.extend(differ),
            }
        }
        if what.is_empty() {
            return Freshness::not_stale(others.values().flatten());
        }
        Freshness::Stale(Stale { what: what.into_iter().collect(), others })
    }

    /// What is said of programs that are the same or do the same work; else the files that differ.
    fn same(&self, programs: &BTreeSet<String>, then: &Sources) -> Result<BTreeSet<String>, BTreeSet<String>> {
        let (mut words, mut differ) = (BTreeSet::new(), BTreeSet::new());
        for program in programs {
            let files = self.known.today.files.get(program);
            let changed = files.into_iter().flatten().filter(|(file, hash)| then.own.get(*file) != Some(hash));
            let changed: BTreeSet<String> = changed.map(|(file, _)| file.clone()).collect();
            if files.is_some() && changed.is_empty() {
                continue;
            }
            let source = self.source_then(program, then);
            let code = then.code.as_ref().and_then(|all| all.get(program));
            let keys: Vec<&str> = [&source].into_iter().chain(code).map(String::as_str).collect();
            match self.known.does_the_work_of(program, &keys) {
                Some(said) => words.extend(said),
                // Of an older record no file is known: the listing stands for all.
                None if changed.is_empty() || then.own.is_empty() => drop(differ.insert(self.listing(program))),
                None => differ.extend(changed),
            }
        }
        if differ.is_empty() { Ok(words) } else { Err(differ) }
    }

    /// The listings whose text is another one than that of what ran, though the machine code is the
    /// same or does the same work.
    pub fn other_text(&self, header: &Header) -> BTreeSet<String> {
        let freshness = self.freshness(header);
        let is_other = |program: &&String| {
            let base = &self.known.older_records.base;
            let then = match &header.sources.code {
                Some(_) => self.source_then(program, &header.sources),
                None => base.program.get(*program).map_or_else(String::new, |own| own.source.clone()),
            };
            let speaks = !matches!(freshness.of([program.as_str()]), Freshness::Stale(_));
            speaks && self.known.today.keys.get(*program).is_some_and(|today| !today.contains(&then))
        };
        self.programs.keys().filter(is_other).map(|program| self.listing(program)).collect()
    }

    /// The hash of the files that a program is made of today, as they were then.
    fn source_then(&self, program: &str, then: &Sources) -> String {
        let files = self.known.today.files.get(program).into_iter().flatten();
        source(files.filter_map(|(file, _)| then.own.get_key_value(file)))
    }

    fn listing(&self, program: &str) -> String {
        Project::listing(&self.chapter, program)
    }
}

fn differences(measured: &BTreeMap<String, String>, current: &BTreeMap<String, String>) -> Vec<String> {
    // What was hashed once, and is not any more, decides nothing.
    current.iter().filter(|(name, hash)| measured.get(*name) != Some(*hash)).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests;
