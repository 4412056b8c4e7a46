//! Whether what was measured is what lies here now, decided without compiling anything.
//!
//! A program is the same if its files say the same to the compiler, or if its machine code is the
//! same: either suffices. *stale*: what runs is another one, or the plan is. *older*: what stands
//! beneath differs, or what runs does and was shown to do the same work.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::Header;
use super::checksum::sha256;
use super::known::{HARNESS, Known};
use super::programs::source;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::renamed::Renamed;
use crate::project::Project;

/// What an experiment's plan is called among the sources of its record; it is no file of a program.
pub const PLAN: &str = "plan";

/// Everything that decides what programs do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// The plan's entry, and the files that programs are made of, each with a hash of what it says
    /// to the compiler. Records without [`Self::code`] have hashes of files' bytes, and only of
    /// those that were found by their names.
    pub own: BTreeMap<String, String>,
    /// What all programs stand on: harness, dependencies, compiler, flags.
    pub beneath: BTreeMap<String, String>,
    /// The machine code of each program, where it can be read. Records that were made before it was
    /// noted down lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<BTreeMap<String, String>>,
}

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
    /// Another listing or plan than the one shown.
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
        let mut own: BTreeMap<_, _> = files.map(|(file, hash)| (file.clone(), hash.clone())).collect();
        own.insert(PLAN.to_owned(), hash(experiment.measured_part().to_string().as_bytes()));
        let beneath = known.beneath.get(&plan.chapter).cloned().unwrap_or_default();
        let (chapter, renamed) = (plan.chapter.clone(), experiment.renamed.clone());
        let sources = Sources { own, beneath, code: None };
        Self { sources, programs, renamed, chapter, known: known.clone() }
    }

    /// How a record of this experiment relates to what lies here.
    pub fn freshness(&self, header: &Header) -> Freshness {
        let older = header.sources.code.is_none().then(|| self.known.older_records.get(header));
        let then = match older {
            // Its hashes are of other things than today's.
            Some(_) => &self.known.older_records.as_of_base(&self.chapter, &header.experiment),
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
                    let said = older.and_then(|older| self.known.older_records.of(older, program));
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
        if then.own.get(PLAN) != self.sources.own.get(PLAN) {
            what.insert(PLAN.to_owned());
            others.clear();
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
                None if changed.is_empty() || then.own.len() <= 1 => drop(differ.insert(self.listing(program))),
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

/// What stands beneath a chapter's programs, by name, each with its hash.
pub fn beneath(project: &Project, chapter: &str, harness: &str) -> Result<BTreeMap<String, String>> {
    let benches = project.benches();
    let mut beneath = BTreeMap::from([(HARNESS.to_owned(), harness.to_owned())]);
    let build = format!("{chapter}/build.rs");
    if benches.join(&build).is_file() {
        beneath.insert(build.clone(), hash_file(&benches.join(build))?);
    }
    let workspace = workspace(project)?;
    let lock = fs::read_to_string(benches.join("Cargo.lock")).context("cannot read benches-src/Cargo.lock")?;
    let mut dependencies = dependencies_of(chapter, &workspace, &lock)?;
    for folder in [chapter, "harness", "observation", "executor", "resources", "runtime"] {
        let text = fs::read_to_string(benches.join(folder).join("Cargo.toml")).unwrap_or_default();
        dependencies += &asked_by(&text).with_context(|| format!("benches-src/{folder}/Cargo.toml is no manifest"))?;
    }
    beneath.insert("dependencies".to_owned(), hash(dependencies.as_bytes()));
    beneath.insert("profile".to_owned(), hash(profile(&workspace).as_bytes()));
    for file in ["rust-toolchain.toml", ".cargo/config.toml"] {
        beneath.insert(file.to_owned(), hash_file(&project.root().join(file))?);
    }
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    beneath.insert("RUSTFLAGS".to_owned(), hash(without_lints(&flags).as_bytes()));
    Ok(beneath)
}

/// What a manifest asks of packages. Whether it could do without one decides nothing.
fn asked_by(manifest: &str) -> Result<String> {
    let manifest: toml::Table = toml::from_str(manifest)?;
    let mut asked = String::new();
    for (name, package) in manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten() {
        let mut package = package.clone();
        if let Some(table) = package.as_table_mut() {
            table.remove("optional");
        }
        asked += &format!("{name} {package}\n");
    }
    Ok(asked)
}

/// Flags of the compiler, without those that say what it warns of.
fn without_lints(flags: &str) -> String {
    const ALONE: [&str; 8] = ["-D", "-W", "-A", "-F", "--deny", "--warn", "--allow", "--forbid"];
    const WITH_VALUE: [&str; 2] = ["--cap-lints", "--check-cfg"];
    let mut words = flags.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if ALONE.contains(&word) || WITH_VALUE.contains(&word) {
            words.next();
        } else if !["-D", "-W", "-A", "-F", "--cap-lints=", "--check-cfg="].iter().any(|lint| word.starts_with(lint)) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    checksum: String,
    /// Each a name, with a version where there are several.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Package {
    fn is_called(&self, wanted: &str) -> bool {
        let (name, version) = wanted.split_once(' ').unwrap_or((wanted, &self.version));
        self.name == name && self.version == version
    }
}

/// What a chapter's programs are made of besides this project's own files: every package that they
/// need, directly or not, with its version and checksum, and the features that the workspace asks
/// of it. What other chapters need does not count.
fn dependencies_of(chapter: &str, workspace: &toml::Table, lock: &str) -> Result<String> {
    let lock: Lock = toml::from_str(lock).context("benches-src/Cargo.lock is no lock file")?;
    let asked = workspace.get("workspace").and_then(|table| table.get("dependencies"));
    let mut wanted = vec![chapter.to_owned()];
    let mut found = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        let Some(package) = lock.package.iter().find(|package| package.is_called(&name)) else { continue };
        let asked = asked.and_then(|asked| asked.get(&package.name)).map_or(String::new(), ToString::to_string);
        let line = format!("{} {} {} {asked}\n", package.name, package.version, package.checksum);
        if found.insert((&package.name, &package.version), line).is_none() {
            wanted.extend(package.dependencies.iter().cloned());
        }
    }
    Ok(found.into_values().collect())
}

/// The manifest of the workspace of all programs.
pub fn workspace(project: &Project) -> Result<toml::Table> {
    let text =
        fs::read_to_string(project.benches().join("Cargo.toml")).context("cannot read benches-src/Cargo.toml")?;
    toml::from_str(&text).context("benches-src/Cargo.toml is no manifest")
}

/// How the workspace's programs are compiled.
fn profile(workspace: &toml::Table) -> String {
    workspace.get("profile").map_or(String::new(), ToString::to_string)
}

pub fn hash_file(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hash(&bytes))
}

/// A short hash: enough to tell versions of a file apart.
pub fn hash(bytes: &[u8]) -> String {
    sha256(bytes)[..16].to_owned()
}

#[cfg(test)]
mod tests;
