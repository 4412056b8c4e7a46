//! What directives printed before, kept by the hash of all that it stood on: a build with nothing
//! changed looks it up instead of reading records.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use crate::book::places::Places;
use crate::measure::child::own_edition;
use crate::print::view::View;
use crate::project::{Machine, Project};
use crate::record::checksum::hash;
use crate::record::machine::Facts;
use crate::say;

/// What one machine's pages printed.
pub struct Printed {
    path: PathBuf,
    kept: Kept,
    /// Whether there is something new to keep.
    changed: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// The hash of what it stood on.
    world: String,
    outputs: BTreeMap<String, Output>,
    /// Whose numbers each page has in place of the shown machine's, which only its records say.
    #[serde(default)]
    stand_ins: BTreeMap<String, Option<String>>,
}

/// What a directive printed, and which files for download it wrote.
#[derive(Clone, Serialize, Deserialize)]
struct Output {
    text: String,
    /// Their names below `book/src/generated`, and their lengths.
    files: Vec<(String, u64)>,
}

impl Printed {
    /// What was kept of a machine's pages, if nothing has changed since beneath them.
    pub fn load(project: &Project, machine: &Machine) -> Result<Self> {
        let path = project.printed(machine.slug());
        let world = world(project)?;
        let kept = fs::read_to_string(&path).ok().and_then(|text| whole(&text)).filter(|kept| kept.world == world);
        let kept = kept.unwrap_or_else(|| Kept { world, ..Kept::default() });
        Ok(Self { path, kept, changed: false })
    }

    /// What a directive printed on a page, if its files for download are there still.
    pub fn find(&self, project: &Project, page: &Path, command: &str) -> Option<&str> {
        let output = self.kept.outputs.get(&key(page, command))?;
        let is_there = |(name, bytes): &(String, u64)| {
            fs::metadata(project.generated().join(name)).is_ok_and(|file| file.len() == *bytes)
        };
        output.files.iter().all(is_there).then_some(output.text.as_str())
    }

    /// Whose numbers a page has in place of the shown machine's.
    pub fn stand_in(&mut self, page: &Path, view: &View) -> Result<Option<Machine>> {
        let page = page.to_string_lossy();
        if let Some(known) = self.kept.stand_ins.get(&*page) {
            return Ok(known.clone().map(Machine::Exported));
        }
        let found = view.stand_in(&page)?;
        self.kept.stand_ins.insert(page.into_owned(), found.as_ref().map(|machine| machine.slug().to_owned()));
        self.changed = true;
        Ok(found)
    }

    /// Keeps what it printed now, and these files for download.
    pub fn keep(&mut self, project: &Project, page: &Path, command: &str, text: &str, files: Vec<String>) {
        let with_length = |name: String| {
            let bytes = fs::metadata(project.generated().join(&name)).map_or(0, |file| file.len());
            (name, bytes)
        };
        let files = files.into_iter().map(with_length).collect();
        self.kept.outputs.insert(key(page, command), Output { text: text.to_owned(), files });
        self.changed = true;
    }

    /// Writes it in one step, since builds may run side by side. Where it cannot be written, the
    /// next build takes as long as this one.
    pub fn save(&self) {
        if !self.changed {
            return;
        }
        let write = || -> Result<()> {
            let folder = self.path.parent().context("it lies in a folder")?;
            fs::create_dir_all(folder)?;
            let json = serde_json::to_string(&self.kept)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            write!(file, "{}\n{json}", hash(json.as_bytes()))?;
            file.persist(&self.path)?;
            Ok(())
        };
        if let Err(error) = write() {
            let path = self.path.display();
            say!("tally: warning: what was printed cannot be kept in {path}, and will be printed anew: {error:#}");
        }
    }
}

fn key(page: &Path, command: &str) -> String {
    format!("{}: {command}", page.display())
}

/// Only what was written to its end: a hash of all of it stands before it.
fn whole(text: &str) -> Option<Kept> {
    let (sum, json) = text.split_once('\n')?;
    (sum == hash(json.as_bytes())).then(|| serde_json::from_str(json).ok())?
}

/// A hash of everything that decides what is printed besides the pages themselves: plans, programs,
/// records and published figures, charts and what draws them, this machine and this tally. A file
/// is told by when its contents or its name last changed, which nothing can set back.
fn world(project: &Project) -> Result<String> {
    let is_input = |entry: &DirEntry| {
        entry.depth() == 0 || !["node_modules", "target"].iter().any(|name| entry.file_name() == *name)
    };
    let mut all = String::new();
    for folder in [project.benches(), project.all_data(), project.charts()] {
        // What vanishes while this looks, as a session's unfinished record does, was not read
        // either.
        for entry in
            WalkDir::new(&folder).follow_links(true).sort_by_file_name().into_iter().filter_entry(is_input).flatten()
        {
            all += &entry.metadata().map_or(String::new(), |metadata| stamp(entry.path(), &metadata));
        }
    }
    let root = project.root();
    // Links lead to where things stand, and a figure has the caption of its home.
    let places = Places::load(project)?;
    for (anchor, text) in places.homes().chain(places.captions()) {
        all += &format!("{anchor} {text}\n");
    }
    for file in ["book.toml", "rust-toolchain.toml", ".cargo/config.toml"] {
        let path = root.join(file);
        all += &fs::metadata(&path).map_or(String::new(), |metadata| stamp(&path, &metadata));
    }
    all += &own_edition()?;
    all += &std::env::var("RUSTFLAGS").unwrap_or_default();
    all += &serde_json::to_string(&Facts::read_identity())?;
    Ok(hash(all.as_bytes()))
}

fn stamp(path: &Path, file: &fs::Metadata) -> String {
    // A folder changes whenever something beside what is looked at does.
    let changed = if file.is_dir() { (0, 0) } else { (file.ctime(), file.ctime_nsec()) };
    format!("{} {} {changed:?}\n", path.display(), if file.is_dir() { 0 } else { file.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_or_changed_is_not_read() {
        let json = serde_json::to_string(&Kept { world: "w".to_owned(), ..Kept::default() }).unwrap();
        let text = format!("{}\n{json}", hash(json.as_bytes()));
        assert_eq!(whole(&text).unwrap().world, "w");
        assert!(whole(&text[..text.len() - 1]).is_none());
        assert!(whole(&text.replace("\"w\"", "\"v\"")).is_none());
        assert!(whole("").is_none() && whole("x\n{}").is_none());
    }
}
