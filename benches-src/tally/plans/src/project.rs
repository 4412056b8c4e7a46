//! Where things lie. The name is the path, so this is the only place that knows paths.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use crate::name;

#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    /// The one machine that is looked at, where not all are.
    only: Option<String>,
}

impl Project {
    /// The checkout around the current folder.
    pub fn find() -> Result<Self> {
        let here = env::current_dir().context("the current folder cannot be read")?;
        let is_root = |folder: &&Path| folder.join("book.toml").is_file() && folder.join("benches-src").is_dir();
        match here.ancestors().find(is_root) {
            Some(root) => Ok(Self { root: root.to_owned(), only: None }),
            None => bail!(
                "{} is in no checkout of the book; start tally below the folder that holds book.toml and benches-src",
                here.display()
            ),
        }
    }

    /// The checkout that lies here.
    pub fn at(root: &Path) -> Result<Self> {
        ensure!(root.join("benches-src").is_dir(), "{} is no checkout of the book", root.display());
        Ok(Self { root: root.canonicalize()?, only: None })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The workspace of what measures.
    pub fn benches(&self) -> PathBuf {
        self.root.join("benches-src")
    }

    /// A path as errors and pages say it: from the project's own folder on.
    pub fn place(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// What is said of the programs of a chapter.
    pub fn programs_of(&self, chapter: &str) -> PathBuf {
        self.benches().join(chapter).join("programs.toml")
    }

    /// The order of a chapter's experiments and claims.
    pub fn order(&self, chapter: &str) -> PathBuf {
        self.benches().join(chapter).join("order.toml")
    }

    /// The experiments of a chapter, a file each.
    pub fn experiments(&self, chapter: &str) -> PathBuf {
        self.benches().join(chapter).join("experiments")
    }

    pub fn experiment(&self, chapter: &str, name: &str) -> PathBuf {
        self.experiments(chapter).join(format!("{name}.toml"))
    }

    /// The claims of a chapter, a file each.
    pub fn claims(&self, chapter: &str) -> PathBuf {
        self.benches().join(chapter).join("claims")
    }

    pub fn claim(&self, chapter: &str, id: &str) -> PathBuf {
        self.claims(chapter).join(format!("{id}.toml"))
    }

    /// The numbers of a chapter that have a name.
    pub fn quantities(&self, chapter: &str) -> PathBuf {
        self.benches().join(chapter).join("quantities.toml")
    }

    /// Whether a folder of the workspace is a chapter, and not a crate that chapters use.
    pub fn is_chapter(&self, folder: &str) -> bool {
        self.programs_of(folder).is_file() || self.experiments(folder).is_dir() || self.claims(folder).is_dir()
    }

    /// The folders of chapters, in the order of their names.
    pub fn chapters(&self) -> Result<Vec<String>> {
        let benches = self.benches();
        let folders = fs::read_dir(&benches).with_context(|| format!("cannot list {}", benches.display()))?;
        let names = folders.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut chapters: Vec<String> = names.filter(|name| self.is_chapter(name)).collect();
        chapters.sort();
        Ok(chapters)
    }

    /// What a chapter knows about the limits of a machine.
    pub fn limits(&self, chapter: &str) -> PathBuf {
        self.benches().join(chapter).join("limits.toml")
    }

    /// What the front page says, and what the chapters do, as far as there is any.
    pub fn takeaways(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.benches()).into_iter().flatten().flatten().map(|folder| folder.path());
        let mut chapters: Vec<PathBuf> = folders.collect();
        chapters.sort();
        let folders = [self.benches()].into_iter().chain(chapters);
        folders.map(|folder| folder.join("takeaways.toml")).filter(|path| path.is_file()).collect()
    }

    /// What is said of the formats of plans to those who write them.
    pub fn formats(&self) -> PathBuf {
        self.benches().join("README.md")
    }

    /// What is said of them to editors, written on request and ignored by git.
    pub fn schemas(&self) -> PathBuf {
        self.target().join("schemas")
    }

    /// The calculator of the chapter that has one.
    pub fn calculator(&self) -> Result<Option<PathBuf>> {
        let benches = self.benches();
        let folders = fs::read_dir(&benches).with_context(|| format!("cannot list {}", benches.display()))?;
        Ok(folders.flatten().map(|folder| folder.path().join("calculator.toml")).find(|path| path.is_file()))
    }

    /// The commands besides tally that directives of pages may run, word for word: `commands` of
    /// `[preprocessor.cmdrun]` in `book.toml`.
    pub fn commands(&self) -> Result<Vec<String>> {
        let commands = self.setting(["preprocessor", "cmdrun", "commands"])?;
        let read = commands.map(toml::Value::try_into).transpose();
        Ok(read.context("in book.toml, commands of [preprocessor.cmdrun]")?.unwrap_or_default())
    }

    /// Where the book's repository can be looked into: `git-repository-url` of `[output.html]` in
    /// `book.toml`.
    pub fn repository(&self) -> Result<Option<String>> {
        let url = self.setting(["output", "html", "git-repository-url"])?;
        url.map(toml::Value::try_into).transpose().context("in book.toml, git-repository-url of [output.html]")
    }

    /// What stands in `book.toml` under these words.
    fn setting(&self, words: [&str; 3]) -> Result<Option<toml::Value>> {
        let path = self.root.join("book.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let book: toml::Value = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        Ok(words.iter().try_fold(&book, |value, word| value.get(word)).cloned())
    }

    /// A program's file, from the workspace's folder on.
    pub fn listing(chapter: &str, program: &str) -> String {
        format!("{chapter}/src/bin/{program}.rs")
    }

    /// The names of a chapter's programs, by the files that lie there.
    pub fn programs_in(&self, chapter: &str) -> Result<BTreeSet<String>> {
        let folder = self.benches().join(chapter).join("src/bin");
        let listed = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let files = listed.flatten().map(|entry| entry.file_name()).filter(|file| name::is_ones_own(file));
        let files = files.map(|file| file.to_string_lossy().into_owned());
        Ok(files.filter_map(|file| Some(file.strip_suffix(".rs")?.to_owned())).collect())
    }

    /// The kind of each measure, which tally has compiled in.
    pub fn measures(&self) -> PathBuf {
        self.benches().join("measures.toml")
    }

    /// Where the book's text lies.
    pub fn pages(&self) -> PathBuf {
        self.root.join("book/src")
    }

    /// The specifications of charts, and the script that draws them.
    pub fn charts(&self) -> PathBuf {
        self.root.join("book/charts")
    }

    /// Files for download, written while printing and ignored by git.
    pub fn generated(&self) -> PathBuf {
        self.root.join("book/src/generated")
    }

    /// Pictures that were drawn before, by the hash of what they show.
    pub fn drawn(&self) -> PathBuf {
        self.target().join("charts")
    }

    /// The head of all pages, written while printing and ignored by git.
    pub fn head(&self) -> PathBuf {
        self.root.join("book/theme/generated/head.hbs")
    }

    /// Where cargo builds, whatever the environment says.
    pub fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    /// Where the built programs lie.
    pub fn programs(&self) -> PathBuf {
        self.target().join("release")
    }

    /// Where the programs lie that are being measured, whatever is built meanwhile.
    pub fn measured(&self) -> PathBuf {
        self.target().join("measured")
    }

    /// Where programs lie that were linked in other orders.
    pub fn link_orders(&self) -> PathBuf {
        self.target().join("link-orders")
    }

    /// Where programs that are measured write what they need only while they run.
    pub fn temporary(&self) -> PathBuf {
        self.target().join("temporary")
    }

    /// What directives printed before, of a machine.
    pub fn printed(&self, slug: &str) -> PathBuf {
        self.target().join("printed").join(slug)
    }

    /// What bundles come to, by the hash of each.
    pub fn digests(&self) -> PathBuf {
        self.target().join("digests")
    }

    /// As what a machine's records were found without fault.
    pub fn checked(&self, slug: &str) -> PathBuf {
        self.target().join("checked").join(slug)
    }

    /// Where measurements and what others published lie.
    pub fn all_data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub fn published(&self) -> PathBuf {
        self.root.join("data/published")
    }

    /// What is known of programs as they were built, a file for each kind of machine.
    pub fn data_of_programs(&self) -> PathBuf {
        self.all_data().join("programs")
    }

    /// The one of this kind of machine.
    pub fn built_for_this_machine(&self) -> PathBuf {
        let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
        self.data_of_programs().join(format!("{}-unknown-linux-{libc}.toml", env::consts::ARCH))
    }

    /// The same of those that were built in this checkout.
    pub fn programs_built_here(&self) -> PathBuf {
        self.target().join("programs.toml")
    }

    /// Builds of programs that were shown to do the same work.
    pub fn equivalences(&self) -> PathBuf {
        self.all_data().join("equivalences.toml")
    }

    /// What records were made of that say nothing of machine code.
    pub fn older_records(&self) -> PathBuf {
        self.all_data().join("older-records.toml")
    }

    /// The records of two builds while they are measured.
    pub fn side_by_side(&self, chapter: &str, experiment: &str) -> PathBuf {
        self.target().join("side-by-side").join(chapter).join(format!("{experiment}.jsonl"))
    }

    /// How far sessions of one machine differ.
    pub fn between_sessions(&self) -> PathBuf {
        self.all_data().join("between-sessions.toml")
    }

    /// The digests of sessions that others replaced before sessions were kept, one for each machine
    /// that has any.
    pub fn history(&self) -> PathBuf {
        self.all_data().join("history")
    }

    /// The machines whose records came with the checkout, by name. `reference` is a link to one of
    /// them. A folder's name becomes an address and an anchor, so that one which is no name is
    /// refused. An archive of built programs comes without any.
    pub fn machines(&self) -> Result<Vec<String>> {
        let folder = self.root.join("data/machines");
        let mut slugs = Vec::new();
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(slugs),
            entries => entries.with_context(|| format!("cannot list {}", folder.display()))?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let slug = entry.file_name().to_string_lossy().into_owned();
                check_machine(&slug).with_context(|| format!("in {}", folder.display()))?;
                slugs.push(slug);
            }
        }
        slugs.retain(|slug| self.only.as_ref().is_none_or(|only| only == slug));
        slugs.sort();
        Ok(slugs)
    }

    /// The same without any machine that came with the checkout but the reference machine.
    pub fn with_reference_alone(&self) -> Self {
        let only = self.reference().map(|reference| reference.slug().to_owned());
        Self { only, ..self.clone() }
    }

    /// The same with all machines that came with the checkout.
    pub fn with_all_machines(&self) -> Self {
        Self { only: None, ..self.clone() }
    }

    /// The machine that published pages show, if there is one.
    pub fn reference(&self) -> Option<Machine> {
        let path = self.root.join("data/machines/reference");
        // Where git makes no links, it writes where they would lead into a file.
        let target = fs::read_link(&path).or_else(|_| fs::read_to_string(&path).map(PathBuf::from)).ok()?;
        let slug = target.file_name()?.to_string_lossy().trim_end().to_owned();
        self.machines().ok()?.contains(&slug).then_some(Machine::Exported(slug))
    }

    /// The machine of this name: `local`, `reference`, or a folder of `data/machines`.
    pub fn machine(&self, name: &str) -> Result<Machine> {
        let known = self.machines()?;
        match name {
            "local" => Ok(Machine::Local),
            "reference" => self.reference().context("data/machines/reference links to no machine beside it"),
            slug if known.iter().any(|known| known == slug) => Ok(Machine::Exported(slug.to_owned())),
            unknown => bail!("unknown machine {unknown:?}; there are: local, reference, {}", known.join(", ")),
        }
    }

    /// The folder of a machine's records.
    pub fn data(&self, machine: &Machine) -> PathBuf {
        match machine {
            Machine::Local => self.root.join("data/local"),
            Machine::Exported(slug) => self.root.join("data/machines").join(slug),
            Machine::Session(own) => {
                self.root.join("data/machines").join(own.split_once('/').map_or(own.as_str(), |(slug, _)| slug))
            }
        }
    }

    /// The record of an experiment that was measured in this checkout.
    pub fn local_record(&self, chapter: &str, experiment: &str) -> PathBuf {
        self.data(&Machine::Local).join(chapter).join(format!("{experiment}.jsonl"))
    }

    /// Where bundles are unpacked to, unless another folder is named.
    pub fn unpacked(&self) -> PathBuf {
        self.target().join("unpacked")
    }
}

/// Refuses what cannot be the name of a machine whose records come with the checkout.
pub fn check_machine(slug: &str) -> Result<()> {
    name::check(slug, "a machine")?;
    ensure!(!["local", "reference"].contains(&slug), "{slug:?} is no name for a machine; it means another one already");
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Machine {
    /// What was measured in this checkout.
    Local,
    /// A machine whose records came with the checkout.
    Exported(String),
    /// A single session of such a machine: the machine's name, a slash, and the session's.
    Session(String),
}

impl Machine {
    pub fn name(&self) -> &str {
        match self {
            Machine::Local => "this machine",
            Machine::Exported(slug) | Machine::Session(slug) => slug,
        }
    }

    /// A word for file names.
    pub fn slug(&self) -> &str {
        match self {
            Machine::Local => "local",
            Machine::Exported(slug) | Machine::Session(slug) => slug,
        }
    }
}
