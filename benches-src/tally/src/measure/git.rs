//! What git says of the checkout: its revision, and the records that it once had.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, ensure};

use crate::project::Project;
use crate::record::contributed::BUNDLE;
use crate::record::{Digest, Record};
use crate::say;

/// The revision of the checkout, with `+` where tracked files differ from it; of an unpacked archive, the one that it was made of. That of another
/// repository around it is none, and where git refuses to say it, that is told.
pub fn revision(project: &Project) -> Option<String> {
    let root = project.root();
    let read = || -> Result<Option<String>, String> {
        let top = PathBuf::from(git_says(root, &["rev-parse", "--show-toplevel"])?);
        if top.canonicalize().ok() != root.canonicalize().ok() {
            return Ok(None);
        }
        let revision = git_says(root, &["rev-parse", "--short=12", "HEAD"])?;
        let dirty = git_says(root, &["status", "--porcelain", "--untracked-files=no"])?;
        Ok(Some(if dirty.is_empty() { revision } else { revision + "+" }))
    };
    match read() {
        Ok(revision) => revision.or_else(|| archived(root)),
        // What was never a checkout has no revision but its archive's, and nobody expects one.
        Err(_) if !root.join(".git").exists() => archived(root),
        Err(reason) => {
            let reason = reason.lines().next().unwrap_or_default().to_owned();
            say!("tally: warning: the records will say no revision, since git does not: {reason}");
            say!(
                "tally: if the checkout is somebody else's, this helps: git config --global --add safe.directory {}",
                root.display()
            );
            None
        }
    }
}

/// What `git archive` has written in the place of a format: the revision of which it packed the files. In a checkout the format still stands there.
fn archived(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join(".revision")).ok()?;
    let own = text.trim();
    let is_one = own.len() >= 40 && own.bytes().all(|sign| sign.is_ascii_hexdigit());
    is_one.then(|| own[..12].to_owned())
}

/// What git prints in a checkout, or its complaint.
fn git_says(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = git(root).args(arguments).output().map_err(|error| format!("git cannot be started: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(said(&output.stderr)) }
}

fn git(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(root);
    // What these say of a repository is another one's, if anything.
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git
}

/// A file of records that lies, or once lay, in the folder of a machine.
struct Once {
    machine: String,
    /// From the machine's folder on.
    file: String,
    blob: String,
}

/// A record that a machine's folder ever had.
enum Kept {
    Lines(Once),
    Bundled(Rc<Digest>, usize),
}

/// All records of an experiment that a machine's folder ever had, in no order, and some of them more than once.
pub struct Former {
    pub machine: String,
    kept: Vec<Kept>,
}

/// Whether the checkout has all of its history, as an archive or a shallow clone has not.
pub fn has_history(project: &Project) -> bool {
    git_says(project.root(), &["rev-parse", "--is-shallow-repository"]).is_ok_and(|said| said == "false")
}

/// Every record of every machine that the checkout's history has, those of a machine's experiment together. Sessions are never replaced, but before there
/// were any, records were: only history has these still, as files of lines.
pub fn history(project: &Project) -> Result<Vec<Former>> {
    let mut groups: BTreeMap<[String; 3], Former> = BTreeMap::new();
    let mut add = |machine: &str, chapter: &str, experiment: &str, kept: Kept| {
        let of_one = groups.entry([machine, chapter, experiment].map(str::to_owned));
        of_one.or_insert_with(|| Former { machine: machine.to_owned(), kept: Vec::new() }).kept.push(kept);
    };
    for once in files(project)? {
        let machine = once.machine.clone();
        if once.is_bundle() {
            match once.read(project, |path| Digest::of(&fs::read(path)?, &project.digests())).map(Rc::new) {
                Ok(digest) => {
                    for (index, entry) in digest.head.records.iter().enumerate() {
                        add(&machine, &entry.chapter, &entry.experiment, Kept::Bundled(digest.clone(), index));
                    }
                }
                Err(error) => once.left_out(&error),
            }
        } else if let Some((chapter, name)) = once.file.clone().split_once('/') {
            add(&machine, chapter, name.split('.').next().unwrap_or(name), Kept::Lines(once));
        }
    }
    Ok(groups.into_values().collect())
}

impl Former {
    /// Reads them. What an older tally wrote may be refused by now, which is said.
    pub fn records(&self, project: &Project) -> Vec<Record> {
        let mut records = Vec::new();
        for kept in &self.kept {
            match kept {
                Kept::Bundled(digest, index) => match digest.record(*index) {
                    Ok(record) => records.push(record),
                    Err(error) => say!("tally: left out: a former session of {}: {error:#}", self.machine),
                },
                Kept::Lines(once) => match once.read(project, Record::load) {
                    Ok(record) => records.extend(record),
                    Err(error) => once.left_out(&error),
                },
            }
        }
        records
    }
}

/// Every version of every file that has or had records.
fn files(project: &Project) -> Result<Vec<Once>> {
    let says = |arguments: &[&str]| git_says(project.root(), arguments).map_err(|error| anyhow!("git says: {error}"));
    ensure!(has_history(project), "this checkout has not all of its history; run: git fetch --unshallow");
    let folder = "data/machines";
    let arguments =
        ["log", "--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=AM", "--", folder];
    let mut files = Vec::new();
    for line in says(&arguments)?.lines() {
        let Some((kept, path)) = line.split_once('\t') else { continue };
        let Some(blob) = kept.split(' ').nth(3) else { continue };
        let [_, _, machine, folder, name] = path.split('/').collect::<Vec<_>>()[..] else { continue };
        let [machine, file, blob] = [machine, &format!("{folder}/{name}"), blob].map(str::to_owned);
        let once = Once { machine, file, blob };
        if once.is_bundle() || once.is_lines() {
            files.push(once);
        }
    }
    Ok(files)
}

impl Once {
    fn is_bundle(&self) -> bool {
        self.file.starts_with("sessions/") && self.file.ends_with(BUNDLE)
    }

    /// As records lay in a chapter's folder before there were sessions.
    fn is_lines(&self) -> bool {
        let ending = self.file.split_once('.').map(|(_, rest)| rest.split('-').next().unwrap_or(rest));
        matches!(ending, Some("jsonl" | "jsonl.session"))
    }

    fn left_out(&self, error: &anyhow::Error) {
        say!("tally: left out: a former {}/{}: {error:#}", self.machine, self.file);
    }

    /// Reads it from a file of its name.
    fn read<T>(&self, project: &Project, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join(&self.file);
        fs::create_dir_all(place.parent().context("it lies in a folder")?)?;
        let file = fs::File::create(&place).with_context(|| format!("cannot write {}", place.display()))?;
        let status = git(project.root()).args(["cat-file", "blob", &self.blob]).stdout(file).status();
        ensure!(status.context("git cannot be started")?.success(), "git cannot read {}", self.blob);
        read(&place)
    }
}
