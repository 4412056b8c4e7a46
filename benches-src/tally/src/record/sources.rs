//! Whether what was measured is what lies here now, decided from hashes of files without compiling anything.
//!
//! *stale*: the listing, its experiment's file or what its code names of its crate differs. *older*: what stands beneath it differs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use crate::book::experiment::Experiment;
use crate::book::renamed::Renamed;
use crate::name;
use crate::project::Project;
use crate::record::successions::Succession;
use crate::record::sum::sha256;

/// What an experiment's plan is called among the sources of its record; it is no file of a program.
pub const PLAN: &str = "plan";

/// Hashes of everything that decides what a program does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// The listings, the modules of the crate that they use, and the plan's entry.
    pub own: BTreeMap<String, String>,
    /// What all programs stand on: harness, dependencies, compiler, flags.
    pub beneath: BTreeMap<String, String>,
}

#[derive(Debug)]
pub struct Current {
    /// What a record of it would hold.
    pub sources: Sources,
    /// Modules of the crate that the listings do not use. A record may still have their hashes, from when each had those of all.
    unused: BTreeSet<String>,
    /// Whose programs they are.
    chapter: String,
    /// The experiment's name.
    experiment: String,
    /// The name of every program.
    programs: Vec<String>,
    /// What cells of older records are called now.
    pub renamed: Vec<Renamed>,
    /// When programs were rewritten.
    successions: Arc<[Succession]>,
}

/// How a record relates to the files that lie here now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// It was measured with exactly these.
    Fresh,
    /// Measured on something older beneath the same listings; what differs.
    Older(Vec<String>),
    /// Another listing or plan than the one shown.
    Stale(Stale),
}

/// What makes a record stale, and which of its programs it still speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stale {
    /// The files that differ.
    pub what: Vec<String>,
    /// Programs that were rewritten and take as long, each with what is said of its older numbers.
    pub alike: BTreeMap<String, String>,
    /// What differs beneath all of them.
    pub beneath: Vec<String>,
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

    /// How fresh numbers of some of the record's programs are: where all of them take as long as they do now, others do not concern them.
    pub fn of<'a>(&self, programs: impl IntoIterator<Item = &'a str>) -> Self {
        let Freshness::Stale(Stale { alike, beneath, .. }) = self else { return self.clone() };
        let words = programs.into_iter().map(|program| alike.get(program)).collect::<Option<BTreeSet<_>>>();
        let Some(words) = words else { return self.clone() };
        Freshness::Older(words.into_iter().chain(beneath).cloned().collect())
    }
}

impl Current {
    /// Hashes what an experiment depends on. All experiments have the same successions.
    pub fn read(
        project: &Project,
        chapter: &str,
        experiment: &Experiment,
        successions: &Arc<[Succession]>,
    ) -> Result<Self> {
        let benches = project.benches();
        let listings = experiment.programs().into_iter().map(|program| Project::listing(chapter, program));
        let (used, unused) = modules(&benches, chapter, listings)?;
        let manifest = format!("{chapter}/Cargo.toml");
        let text = fs::read_to_string(benches.join(&manifest)).unwrap_or_default();
        let is_named = |package: &str| used.values().any(|code| names(code.lines()).contains(OsStr::new(package)));
        let (concerning, others) = concerning(&text, is_named);
        let mut own: BTreeMap<_, _> = used.into_iter().map(|(file, code)| (file, hash(code.as_bytes()))).collect();
        own.insert(PLAN.to_owned(), hash(experiment.measured_part().to_string().as_bytes()));

        let mut beneath = BTreeMap::new();
        for folder in BENEATH_ALL.into_iter().chain(further_crates(&text)) {
            let sources = benches.join(folder).join("src");
            if sources.is_dir() {
                beneath.insert(folder.to_owned(), hash_folder(&sources)?);
                let manifest = format!("{folder}/Cargo.toml");
                beneath.insert(manifest.clone(), hash_file(&benches.join(manifest))?);
            }
        }
        beneath.insert(manifest, hash(concerning.as_bytes()));
        let build = format!("{chapter}/build.rs");
        if benches.join(&build).is_file() {
            beneath.insert(build.clone(), hash_file(&benches.join(build))?);
        }
        let workspace = workspace(project)?;
        let lock = fs::read_to_string(benches.join("Cargo.lock")).context("cannot read benches-src/Cargo.lock")?;
        let dependencies = Dependencies::of(chapter, &others, &workspace, &lock)?;
        beneath.insert("dependencies".to_owned(), hash(dependencies.0.as_bytes()));
        beneath.insert("profile".to_owned(), hash(profile(&workspace).as_bytes()));
        for file in ["rust-toolchain.toml", ".cargo/config.toml"] {
            beneath.insert(file.to_owned(), hash_file(&project.root().join(file))?);
        }
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        beneath.insert("RUSTFLAGS".to_owned(), hash(flags.as_bytes()));
        let programs = experiment.programs().into_iter().map(str::to_owned).collect();
        let (chapter, experiment, renamed) = (chapter.to_owned(), experiment.name.clone(), experiment.renamed.clone());
        let successions = successions.clone();
        Ok(Self { sources: Sources { own, beneath }, unused, chapter, experiment, programs, renamed, successions })
    }
}

impl Sources {
    /// How a record of these sources relates to the `current` ones.
    pub fn freshness(&self, current: &Current) -> Freshness {
        let mut what = differences(&self.own, &current.sources.own);
        what.retain(|name| !current.unused.contains(name));
        let beneath = differences(&self.beneath, &current.sources.beneath);
        if what.is_empty() {
            return if beneath.is_empty() { Freshness::Fresh } else { Freshness::Older(beneath) };
        }
        let rewritten = |program: &String| {
            let replaced = [&self.own, &current.sources.own];
            let path = format!("{}/{program}", current.chapter);
            let own = current.successions.iter().find(|own| own.covers(&current.experiment, &path, &what, replaced))?;
            Some((program.clone(), own.words()))
        };
        let alike = current.programs.iter().filter_map(rewritten).collect();
        let stale = Freshness::Stale(Stale { what, alike, beneath });
        stale.of(current.programs.iter().map(String::as_str))
    }
}

/// What a chapter's programs are made of besides this project's own files: every package that they need, directly or not, with its
/// version and checksum, and the features that the workspace asks of it. What other chapters need is none of their business, nor what
/// other programs of the chapter alone need.
struct Dependencies(String);

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

impl Dependencies {
    fn of(chapter: &str, others: &BTreeSet<String>, workspace: &toml::Table, lock: &str) -> Result<Self> {
        let lock: Lock = toml::from_str(lock).context("benches-src/Cargo.lock is no lock file")?;
        let asked = workspace.get("workspace").and_then(|table| table.get("dependencies"));
        let mut wanted = vec![chapter.to_owned()];
        let mut found = BTreeMap::new();
        while let Some(name) = wanted.pop() {
            let Some(package) = lock.package.iter().find(|package| package.is_called(&name)) else { continue };
            let asked = asked.and_then(|asked| asked.get(&package.name)).map_or(String::new(), ToString::to_string);
            let line = format!("{} {} {} {asked}\n", package.name, package.version, package.checksum);
            if found.insert((&package.name, &package.version), line).is_none() {
                let is_others = |wanted: &str| {
                    package.name == chapter && others.contains(wanted.split(' ').next().unwrap_or(wanted))
                };
                wanted.extend(package.dependencies.iter().filter(|wanted| !is_others(wanted)).cloned());
            }
        }
        Ok(Self(found.into_values().collect()))
    }
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

/// The files of a chapter's crate that some listings use, themselves included, with their code, and the modules that they do not use.
/// `lib.rs` is always used, and so is every module whose name stands in the code of what is used, every program that another contains
/// or starts, and every folder whose files one carries with it. That is more than the compiler would say where a name means something
/// else as well, and it would be less for an `impl` in a module that nobody names; there is none.
fn modules(
    benches: &Path,
    chapter: &str,
    listings: impl Iterator<Item = String>,
) -> Result<(BTreeMap<String, String>, BTreeSet<String>)> {
    let library = format!("{chapter}/src/lib.rs");
    let mut unused: BTreeSet<String> = shared_files(benches, chapter).into_iter().collect();
    let mut unread: Vec<String> = listings.chain(unused.take(&library)).collect();
    let mut used = BTreeMap::new();
    while let Some(file) = unread.pop() {
        if used.contains_key(&file) {
            continue;
        }
        let path = benches.join(&file);
        let code = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let named = names(code.lines().filter(|line| file != library || !is_declaration(line)));
        unread
            .extend(unused.extract_if(.., |file| Path::new(file).file_stem().is_some_and(|name| named.contains(name))));
        unread.extend(contained_programs(benches, &file, &code));
        unread.extend(started_programs(benches, chapter, &code));
        for folder in included_folders(benches, &code) {
            used.insert(folder.to_owned(), hash_folder(&benches.join(folder))?);
        }
        used.insert(file, code);
    }
    Ok((used, unused))
}

/// The programs that a program contains as modules, by their own names or by a path.
fn contained_programs(benches: &Path, program: &str, code: &str) -> Vec<String> {
    let Some(folder) = Path::new(program).parent().filter(|folder| folder.ends_with("bin")) else { return Vec::new() };
    let by_path =
        code.lines().filter_map(|line| line.strip_prefix("#[path = \"")?.split('"').next()).map(str::to_owned);
    let by_name = code.lines().filter(|line| is_declaration(line));
    let by_name = by_name.filter_map(|line| Some(format!("{}.rs", line.trim_end_matches(';').rsplit(' ').next()?)));
    let files = by_path.chain(by_name).map(|file| folder.join(file)).filter(|file| benches.join(file).is_file());
    files.map(|file| file.to_string_lossy().into_owned()).collect()
}

/// The programs of a chapter whose names stand in code between quotation marks, as that of a program does which another starts.
fn started_programs(benches: &Path, chapter: &str, code: &str) -> Vec<String> {
    let files = code.split('"').map(|name| format!("{chapter}/src/bin/{name}.rs"));
    files.filter(|file| benches.join(file).is_file()).collect()
}

/// The folders beside the chapters whose files a program carries with it, by paths that begin with `"../../NAME/"`.
fn included_folders<'a>(benches: &Path, code: &'a str) -> impl Iterator<Item = &'a str> {
    let folders = code.split('"').filter_map(|path| path.strip_prefix("../../")?.strip_suffix('/'));
    folders.filter(|folder| benches.join(folder).is_dir())
}

/// Whether a line only says that there is a module.
fn is_declaration(line: &str) -> bool {
    line.strip_prefix("pub ").unwrap_or(line).starts_with("mod ") && line.ends_with(';')
}

/// All words of code, without comments.
fn names<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<OsString> {
    let code = lines.map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split(|sign: char| !sign.is_alphanumeric() && sign != '_')).map(OsString::from).collect()
}

/// What the programs of a chapter share: its `lib.rs` and whatever else is in its `src`, but for the programs themselves.
pub fn shared_files(benches: &Path, chapter: &str) -> Vec<String> {
    let is_shared =
        |entry: &DirEntry| (entry.depth() != 1 || entry.file_name() != "bin") && name::is_ones_own(entry.file_name());
    let src = benches.join(chapter).join("src");
    let entries = WalkDir::new(src).sort_by_file_name().into_iter().filter_entry(is_shared).flatten();
    let paths =
        entries.filter_map(|entry| Some(entry.path().strip_prefix(benches).ok()?.to_string_lossy().into_owned()));
    paths.filter(|path| path.ends_with(".rs")).collect()
}

/// What every chapter stands on.
const BENEATH_ALL: [&str; 3] = ["harness", "observation", "executor"];

/// The other crates of this workspace that a chapter's manifest builds on.
fn further_crates(manifest: &str) -> impl Iterator<Item = &str> {
    let paths = manifest.lines().filter_map(|line| line.split_once("path = \"../")?.1.split('"').next());
    paths.filter(|folder| !BENEATH_ALL.contains(folder))
}

/// What of a chapter's manifest concerns some code, and the packages that do not. A package that the manifest calls optional concerns the
/// code that names it. Features only say that such packages are there: without them their programs would not compile. It stays text, so that
/// a manifest without any of this has the hash that records know it by.
fn concerning(manifest: &str, is_named: impl Fn(&str) -> bool) -> (String, BTreeSet<String>) {
    let mut others = BTreeSet::new();
    let paragraphs = manifest.split("\n\n").filter(|paragraph| !paragraph.lines().any(|line| line == "[features]"));
    let paragraphs = paragraphs.map(|paragraph| {
        let is_concerned = |line: &&str| {
            let Some((package, _)) = line.split_once(" = ").filter(|_| line.contains("optional = true")) else {
                return true;
            };
            is_named(&package.replace('-', "_")) || !others.insert(package.to_owned())
        };
        paragraph.split('\n').filter(is_concerned).collect::<Vec<_>>().join("\n")
    });
    let concerning = paragraphs.collect::<Vec<_>>().join("\n\n");
    (concerning, others)
}

fn differences(measured: &BTreeMap<String, String>, current: &BTreeMap<String, String>) -> Vec<String> {
    let names = measured.keys().chain(current.keys()).collect::<std::collections::BTreeSet<_>>();
    names.into_iter().filter(|name| measured.get(*name) != current.get(*name)).cloned().collect()
}

fn hash_folder(folder: &Path) -> Result<String> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?.collect::<Result<_, _>>()?;
    entries.retain(|entry| name::is_ones_own(&entry.file_name()));
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut all = String::new();
    for entry in entries {
        let path = entry.path();
        let own = if path.is_dir() { hash_folder(&path)? } else { hash_file(&path)? };
        all += &format!("{} {own}\n", entry.file_name().to_string_lossy());
    }
    Ok(hash(all.as_bytes()))
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
