//! What each program is made of, and what its machine code comes to: as the compiler said when it
//! was built. What `cargo tally identify` wrote into `data/programs` says it without compiling
//! anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use plans::book::plan_file;
use plans::project::Project;
use serde::{Deserialize, Serialize};

use super::{code, tokens};

/// Every program of the workspace as it lies here.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// The files of each, by its name, with what they say to the compiler.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// What each is known by: the hash of all its files, and that of the machine code that was made
    /// of just these, for each kind of machine for which it is known.
    pub keys: BTreeMap<String, BTreeSet<String>>,
}

/// What is known of programs that were built: a file of `data/programs`, or of `target` for those
/// that are newer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// The files that all programs of a chapter are made of, from `benches-src` on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shared: BTreeMap<String, BTreeSet<String>>,
    /// What a program is made of besides these and its listing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<String, BTreeSet<String>>,
    /// The machine code of each program, with the sources of which it was compiled.
    #[serde(default)]
    pub program: BTreeMap<String, Compiled>,
}

/// A program as it was compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compiled {
    pub source: String,
    pub code: String,
}

/// Crates of this workspace besides the chapters whose code is measured with a program's own.
const MEASURED: [&str; 3] = ["executor", "resources", "runtime"];

/// What is beneath all programs, and speaks of its own: see [`super::sources`].
const BENEATH: [&str; 2] = ["harness/", "observation/"];

impl Programs {
    /// Reads what lies here, and what is known of it.
    pub fn read(project: &Project) -> Result<Self> {
        let mut known = vec![Built::read(&project.programs_built_here())?];
        for (_, path) in plan_file::in_folder(&project.data_of_programs())? {
            known.push(plan_file::read(project, &path)?);
        }
        let mut hashes = BTreeMap::new();
        let mut all = Self::default();
        for (chapter, name) in all_programs(project)? {
            let listing = Project::listing(&chapter, &name);
            let mut files = BTreeSet::from([listing.clone()]);
            files.extend(known.iter().flat_map(|known| known.files(&chapter, &name)));
            files.extend(dep_info(project, &project.programs(), &name)?.into_iter().flatten());
            let mut with_hashes = BTreeMap::new();
            for file in files {
                let path = project.benches().join(&file);
                // What is gone was replaced by something else, and that is changed.
                if path.is_file() {
                    let hash = match hashes.get(&file) {
                        Some(hash) => String::clone(hash),
                        None => tokens::hash_of(&path)?,
                    };
                    hashes.insert(file.clone(), hash.clone());
                    with_hashes.insert(file, hash);
                }
            }
            let source = source(&with_hashes);
            let compiled = known.iter().filter_map(|known| known.program.get(&name)).filter(|own| own.source == source);
            let mut keys: BTreeSet<String> = compiled.map(|own| own.code.clone()).collect();
            keys.insert(source);
            all.keys.insert(name.clone(), keys);
            ensure!(all.files.insert(name, with_hashes).is_none(), "{listing}: another program has this name");
        }
        Ok(all)
    }

    /// What the programs that were just built into a folder come to. Whatever cannot be read of one
    /// is said, and it is left out.
    pub fn built(&self, project: &Project, folder: &Path, wanted: &BTreeSet<String>) -> Result<(Built, Vec<String>)> {
        let (mut built, mut unread) = (Built::default(), Vec::new());
        for (chapter, name) in all_programs(project)? {
            if !wanted.contains(&name) {
                continue;
            }
            match code::hash_of(&folder.join(&name), &crates(&chapter, &name)) {
                Ok(code) => {
                    drop(built.program.insert(name.clone(), Compiled { source: source(&self.files[&name]), code }))
                }
                Err(error) => unread.push(format!("{error:#}")),
            }
        }
        Ok((built, unread))
    }
}

/// The functions of a program that are not the same in two folders of builds.
pub fn functions_that_differ(project: &Project, program: &str, folders: [&Path; 2]) -> Result<BTreeSet<String>> {
    let chapter = all_programs(project)?.into_iter().find_map(|(chapter, name)| (name == program).then_some(chapter));
    let own = crates(&chapter.with_context(|| format!("no chapter has a program {program}"))?, program);
    let [one, other] = folders.map(|folder| folder.join(program));
    code::functions_that_differ([&one, &other], &own)
}

impl Built {
    /// Nothing where there is no such file.
    fn read(path: &Path) -> Result<Self> {
        if !path.is_file() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        // It is only a cache.
        Ok(toml::from_str(&text).unwrap_or_default())
    }

    /// Adds these to what is known in a file.
    pub fn note_down(&self, path: &Path) -> Result<()> {
        let mut all = Self::read(path)?;
        all.program.extend(self.program.clone());
        fs::create_dir_all(path.parent().context("it lies in a folder")?)?;
        fs::write(path, toml::to_string(&all)?).with_context(|| format!("cannot write {}", path.display()))
    }

    fn files(&self, chapter: &str, program: &str) -> impl Iterator<Item = String> {
        self.shared.get(chapter).into_iter().chain(self.own.get(program)).flatten().cloned()
    }

    /// What the compiler said of all programs that were built: their files, and their code.
    pub fn of_all(project: &Project, folder: &Path) -> Result<Self> {
        let mut made_of: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (chapter, name) in all_programs(project)? {
            let Some(files) = dep_info(project, folder, &name)? else {
                bail!(
                    "{} is not there; build the programs, as README.md says",
                    folder.join(name).with_extension("d").display()
                )
            };
            ensure!(
                files.contains(&Project::listing(&chapter, &name)),
                "{} was built in another folder; build the programs here, as README.md says",
                folder.join(&name).display()
            );
            made_of.entry(chapter).or_default().insert(name, files);
        }
        let mut all = Self::default();
        for (chapter, programs) in made_of {
            let shared = programs.values().cloned().reduce(|one, other| &one & &other).unwrap_or_default();
            for (name, files) in programs {
                let listing = Project::listing(&chapter, &name);
                let own: BTreeSet<_> = files.difference(&shared).filter(|file| **file != listing).cloned().collect();
                all.own.extend((!own.is_empty()).then_some((name, own)));
            }
            all.shared.insert(chapter, shared);
        }
        let programs = Programs::read(project)?;
        let names = programs.files.keys().cloned().collect();
        let (built, unread) = programs.built(project, folder, &names)?;
        ensure!(unread.is_empty(), "{}", unread.join("\n"));
        Ok(Self { program: built.program, ..all })
    }
}

/// The hash of all files of a program, given those of each.
pub fn source<'a>(files: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    let lines: String = files.into_iter().map(|(file, hash)| format!("{file} {hash}\n")).collect();
    super::checksum::hash(lines.as_bytes())
}

/// The crates whose machine code is a program's, as symbols name them; its own is the first.
fn crates(chapter: &str, program: &str) -> Vec<String> {
    [program, chapter].into_iter().chain(MEASURED).map(|name| name.replace('-', "_")).collect()
}

/// Every program by its name, behind its chapter.
fn all_programs(project: &Project) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for chapter in project.chapters()? {
        // Whether a chapter has any is for `tally check` to say.
        let names = project.programs_in(&chapter).unwrap_or_default();
        all.extend(names.into_iter().map(|name| (chapter.clone(), name)));
    }
    Ok(all)
}

/// The files of this workspace, from its folder on, of which the compiler says that it made a
/// program of them. None where it was not built here.
fn dep_info(project: &Project, folder: &Path, program: &str) -> Result<Option<BTreeSet<String>>> {
    let path = folder.join(program).with_extension("d");
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let benches = project.benches().canonicalize()?;
    // A space within a path stands behind a backslash.
    let words = text.lines().filter_map(|line| line.split_once(": ")).flat_map(|(_, files)| {
        let files = files.replace("\\ ", "\0");
        files.split(' ').map(|file| file.replace('\0', " ")).collect::<Vec<_>>()
    });
    let own = words.filter_map(|file| Some(plain(&file).strip_prefix(&benches).ok()?.to_string_lossy().into_owned()));
    Ok(Some(own.filter(|file| !BENEATH.iter().any(|folder| file.starts_with(folder))).collect()))
}

/// A path without steps back.
fn plain(path: &str) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}
