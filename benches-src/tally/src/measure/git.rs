//! What git says of the checkout: its revision, and the records that it once had.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};

use crate::project::Project;
use crate::record::Record;
use crate::say;

/// The revision of the checkout, with `+` where tracked files differ from it. That of another repository around it is none, and where git
/// refuses to say it, that is told.
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
        Ok(revision) => revision,
        // What was never a checkout has no revision, and nobody expects one.
        Err(_) if !root.join(".git").exists() => None,
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

/// A record that lies, or once lay, in the folder of a machine.
pub struct Once {
    machine: String,
    chapter: String,
    file: String,
    blob: String,
}

/// Whether the checkout has all of its history, as an archive or a shallow clone has not.
pub fn has_history(project: &Project) -> bool {
    git_says(project.root(), &["rev-parse", "--is-shallow-repository"]).is_ok_and(|said| said == "false")
}

/// Every record of every machine that the checkout's history has, those of a machine's experiment together.
pub fn history(project: &Project) -> Result<Vec<Vec<Once>>> {
    let says = |arguments: &[&str]| git_says(project.root(), arguments).map_err(|error| anyhow!("git says: {error}"));
    ensure!(has_history(project), "this checkout has not all of its history; run: git fetch --unshallow");
    let folder = "data/machines";
    let arguments =
        ["log", "--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=AM", "--", folder];
    let mut groups: BTreeMap<[String; 3], Vec<Once>> = BTreeMap::new();
    for line in says(&arguments)?.lines() {
        let Some((kept, path)) = line.split_once('\t') else { continue };
        let parts: Vec<&str> = path.split('/').collect();
        let [_, _, machine, chapter, file] = parts[..] else { continue };
        let Some(blob) = kept.split(' ').nth(3) else { continue };
        let [machine, chapter, file, blob] = [machine, chapter, file, blob].map(str::to_owned);
        let Some((experiment, "jsonl" | "jsonl.session")) =
            file.split_once('.').map(|(name, rest)| (name, rest.split('-').next().unwrap_or(rest)))
        else {
            continue;
        };
        let of_one = groups.entry([machine.clone(), chapter.clone(), experiment.to_owned()]).or_default();
        of_one.push(Once { machine, chapter, file, blob });
    }
    Ok(groups.into_values().collect())
}

impl Once {
    /// Whose it is.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Where it lay, but for the time.
    pub fn place(&self) -> String {
        format!("{}/{}/{}", self.machine, self.chapter, self.file)
    }

    /// Reads it. What an older tally wrote may be refused by now.
    pub fn load(&self, project: &Project) -> Result<Option<Record>> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path().join(&self.chapter);
        fs::create_dir_all(&folder)?;
        let place = folder.join(&self.file);
        let file = fs::File::create(&place).with_context(|| format!("cannot write {}", place.display()))?;
        let status = git(project.root()).args(["cat-file", "blob", &self.blob]).stdout(file).status();
        ensure!(status.context("git cannot be started")?.success(), "git cannot read {}", self.blob);
        Record::load(&place)
    }
}
