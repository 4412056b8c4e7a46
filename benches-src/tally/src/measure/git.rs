//! What git says of the checkout: its revision.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::Project;
use crate::say;

/// The revision of the checkout, with `+` where tracked files differ from it; of an unpacked
/// archive, the one that it was made of. That of another repository around it is none, and where
/// git refuses to say it, that is told.
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

/// What `git archive` has written in the place of a format: the revision of which it packed the
/// files. In a checkout the format still stands there.
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
