//! A machine's folder in `data/machines`: `machine.toml`, and for each session a bundle of its
//! records. Sessions are added and never replaced.

use std::cmp::Reverse;
use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, anyhow, ensure};
use tempfile::NamedTempFile;

use super::Header;
use super::compression;
use super::digest::{self, Digest};
use super::machine::Facts;
use super::records::{RawRecord, Record};
use super::validity;
use crate::project::{Machine, Project};

/// How the name of a session's bundle ends.
pub const BUNDLE: &str = ".bundle.zst";

/// What stands above a machine's facts.
const ABOUT: &str = "# What is known of this machine: written when its first session was exported, and never by hand. \
                     Every session in this folder is of it.\n\n";

/// A machine's folder, of which the digest of every session was read.
pub struct Contributed {
    /// Its sessions, in the order of their days and numbers.
    pub sessions: Vec<Session>,
    /// What cannot be read, each with path and cure. It may hold any record, so that none is shown
    /// while there is any of this.
    pub unreadable: Vec<String>,
    /// What else does not belong there; no number is in doubt for it.
    pub strays: Vec<String>,
}

/// One session: what was exported together.
pub struct Session {
    pub path: PathBuf,
    pub digest: Digest,
    unpacked: OnceLock<Result<Arc<Vec<String>>, String>>,
}

/// Which session of a day, the first without a number.
type Name = (String, u32);

impl Contributed {
    /// What a machine's folder has.
    pub fn of(project: &Project, machine: &Machine) -> Self {
        Self::open(&project.data(machine), &project.digests())
    }

    /// Opens what a folder has; digests are kept in the other. What cannot be read is kept as
    /// words.
    pub fn open(folder: &Path, digests: &Path) -> Self {
        let mut own = Self { sessions: Vec::new(), unreadable: Vec::new(), strays: Vec::new() };
        let names = own.names(folder);
        let facts = match facts(folder) {
            Ok(Some(facts)) => facts,
            // A folder without anything has nothing to be of another machine.
            Ok(None) if names.is_empty() => return own,
            Ok(None) => {
                own.unreadable.push(refused(&facts_path(folder), &anyhow!("it is missing")));
                return own;
            }
            Err(error) => {
                own.unreadable.push(refused(&facts_path(folder), &error));
                return own;
            }
        };
        for name in names {
            let path = session_path(folder, &name);
            match Session::open(&path, &name, &facts, digests) {
                Ok(session) => own.sessions.push(session),
                Err(error) => own.unreadable.push(refused(&path, &error)),
            }
        }
        own
    }

    /// The names of the sessions. Whatever else lies there is a stray.
    fn names(&mut self, folder: &Path) -> Vec<Name> {
        let mut found = Vec::new();
        let sessions = folder.join("sessions");
        for path in entries(&sessions) {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match file.strip_suffix(BUNDLE).and_then(read_name) {
                Some(name) => found.push(name),
                None => self.strays.push(format!(
                    "{}: its name is no session's, such as 2026-11-25-2{BUNDLE}; move it elsewhere or remove it",
                    path.display()
                )),
            }
        }
        for path in entries(folder).filter(|path| *path != sessions && *path != facts_path(folder)) {
            self.strays.push(format!(
                "{}: it is no part of a machine's folder; move it elsewhere or remove it",
                path.display()
            ));
        }
        found.sort();
        found
    }

    /// Every record that can be read: its session, its place in it, its header.
    pub fn records(&self) -> impl Iterator<Item = (&Session, usize, &Arc<Header>)> {
        self.sessions.iter().flat_map(|session| {
            let headers = session.digest.records.iter().enumerate();
            headers.map(move |(index, (header, _))| (session, index, header))
        })
    }

    /// Those of an experiment.
    pub fn records_of(&self, chapter: &str, experiment: &str) -> impl Iterator<Item = (&Session, usize, &Arc<Header>)> {
        self.records().filter(move |(.., header)| header.chapter == chapter && header.experiment == experiment)
    }
}

impl Session {
    fn open(path: &Path, name: &Name, facts: &Facts, digests: &Path) -> Result<Self> {
        let bundle = compression::read(path)?.context("it is missing")?;
        let digest = Digest::of(&bundle, digests)?;
        for (header, _) in &digest.records {
            let differences = header.machine.differences(facts);
            ensure!(
                differences.is_empty(),
                "{} is of another machine than machine.toml: they differ in {}",
                header.experiment,
                differences.join(", ")
            );
        }
        let day = day(digest.records.iter().map(|(header, _)| &**header));
        ensure!(day.as_ref() == Some(&name.0), "it was measured on {}", day.unwrap_or_default());
        Ok(Self { path: path.to_owned(), digest, unpacked: OnceLock::new() })
    }

    /// Its name, such as `2026-11-25-2`.
    pub fn name(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        file.strip_suffix(BUNDLE).unwrap_or(&file).to_owned()
    }

    /// What each of its records says that it is.
    pub fn headers(&self) -> impl Iterator<Item = &Header> + Clone {
        self.digest.records.iter().map(|(header, _)| &**header)
    }

    /// One of its records, without raw samples.
    pub fn record(&self, index: usize) -> Result<Record> {
        let of = || self.digest.head.records[index].name();
        self.digest.record(index).with_context(of).map_err(|error| self.about(&error))
    }

    /// The lines of each of its records, with raw samples. The bundle is unpacked once.
    pub fn lines(&self) -> Result<Arc<Vec<String>>> {
        let unpack = || self.digest.unpacked(&self.bundle()?).map(Arc::new).map_err(|error| self.about(&error));
        let unpacked = self.unpacked.get_or_init(|| unpack().map_err(|error| format!("{error:#}")));
        unpacked.clone().map_err(|words| anyhow!(words))
    }

    /// Its records with raw samples, to hold the digest against.
    #[cfg(test)]
    fn records_as_written(&self) -> Result<Vec<RawRecord>> {
        digest::records_of_bundle(&self.bundle()?).map_err(|error| self.about(&error))
    }

    /// Whether the digest is what the bundle comes to, whatever was kept of it.
    pub fn check_digest(&self) -> Result<()> {
        let anew = Digest::anew(&self.bundle()?).map_err(|error| self.about(&error))?;
        let path = self.path.display();
        self.digest.check_against(&anew).with_context(|| format!("{path}: remove target/digests, which says otherwise"))
    }

    fn bundle(&self) -> Result<Vec<u8>> {
        let read = compression::read(&self.path).and_then(|bytes| bytes.context("it is missing"));
        read.map_err(|error| self.about(&error))
    }

    fn about(&self, error: &anyhow::Error) -> anyhow::Error {
        anyhow!(refused(&self.path, error))
    }
}

/// What is wrong with a file, and what helps where it is not what was written.
fn refused(path: &Path, error: &anyhow::Error) -> String {
    let path = path.display();
    format!("{path}: {error:#}; to have it as it was committed: git checkout -- {path}")
}

/// The facts that a machine's folder says; nothing where it says none.
pub fn facts(folder: &Path) -> Result<Option<Facts>> {
    match fs::read_to_string(facts_path(folder)) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        text => {
            let facts: Facts = toml::from_str(&text?)?;
            ensure!(facts.allow_listed() == facts, "it says more of the machine than the allow-list has");
            validity::facts(&facts)?;
            Ok(Some(facts))
        }
    }
}

fn facts_path(folder: &Path) -> PathBuf {
    folder.join("machine.toml")
}

fn session_path(folder: &Path, (day, number): &Name) -> PathBuf {
    let number = if *number > 1 { format!("-{number}") } else { String::new() };
    folder.join("sessions").join(format!("{day}{number}{BUNDLE}"))
}

/// A day, and the number of a further session of it.
fn read_name(name: &str) -> Option<Name> {
    let (day, rest) = name.split_at_checked(10)?;
    let is_digit =
        |(place, sign): (usize, char)| if [4, 7].contains(&place) { sign == '-' } else { sign.is_ascii_digit() };
    let number = match rest.strip_prefix('-') {
        None if rest.is_empty() => 1,
        None => return None,
        Some(number) => number.parse().ok().filter(|own: &u32| *own > 1 && own.to_string() == number)?,
    };
    day.char_indices().all(is_digit).then(|| (day.to_owned(), number))
}

fn day<'a>(headers: impl Iterator<Item = &'a Header>) -> Option<String> {
    headers.map(Header::day).max().map(str::to_owned)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}

/// Adds complete records of one machine to its folder, as sessions: of each experiment the last in
/// one, those before them in others. Records that are there already are left out. The paths of the
/// bundles that were written, none if there was nothing to add.
pub fn add(project: &Project, machine: &Machine, records: Vec<RawRecord>) -> Result<Vec<PathBuf>> {
    add_to(&project.data(machine), &project.digests(), records)
}

fn add_to(folder: &Path, digests: &Path, mut records: Vec<RawRecord>) -> Result<Vec<PathBuf>> {
    let there = Contributed::open(folder, digests);
    ensure!(there.unreadable.is_empty(), "{}", there.unreadable.join("\n"));
    let is_there = |own: &Header| {
        there.records().any(|(.., other)| own.experiment == other.experiment && own.before == other.before)
    };
    records.retain(|record| !is_there(&record.header));
    let Some(newest) = records.iter().max_by_key(|record| record.header.before.time.clone()) else {
        return Ok(Vec::new());
    };
    let machine = match facts(folder)? {
        Some(_) => None,
        None => Some(ABOUT.to_owned() + &toml::to_string(&newest.header.machine.allow_listed())?),
    };
    let written = || format!("cannot write {}; nothing was exported", folder.display());
    let sessions = layers(records).iter().map(|records| beside(folder, records)).collect::<Result<Vec<_>>>();
    let sessions = sessions.with_context(written)?;
    if let Some(machine) = machine {
        let file = temporary(folder, machine.as_bytes()).with_context(written)?;
        file.persist(facts_path(folder)).with_context(written)?;
    }
    sessions.into_iter().map(|session| session.place(folder)).collect()
}

/// The records by session, the first session first: the last of each experiment are in the last.
fn layers(mut records: Vec<RawRecord>) -> Vec<Vec<RawRecord>> {
    records.sort_by_key(|record| Reverse(record.header.before.time.clone()));
    let mut layers: Vec<Vec<RawRecord>> = Vec::new();
    for record in records {
        let lacks_it =
            |layer: &&mut Vec<RawRecord>| layer.iter().all(|other| other.header.experiment != record.header.experiment);
        match layers.iter_mut().find(lacks_it) {
            Some(layer) => layer.push(record),
            None => layers.push(vec![record]),
        }
    }
    for layer in &mut layers {
        layer.sort_by_key(|record| (record.header.chapter.clone(), record.header.experiment.clone()));
    }
    layers.reverse();
    layers
}

/// A session that has not got its name yet.
struct Beside {
    day: String,
    bundle: NamedTempFile,
}

/// Writes a session so that it is on the disk, in a file that is removed again if it is not given a
/// name.
fn beside(folder: &Path, records: &[RawRecord]) -> Result<Beside> {
    let day = day(records.iter().map(|record| &record.header)).context("a session has a record")?;
    Ok(Beside { day, bundle: temporary(&folder.join("sessions"), &digest::bundle(records)?)? })
}

fn temporary(folder: &Path, bytes: &[u8]) -> Result<NamedTempFile> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

impl Beside {
    /// Gives it its name.
    fn place(self, folder: &Path) -> Result<PathBuf> {
        let path = |number| session_path(folder, &(self.day.clone(), number));
        let number = (1..).find(|number| !path(*number).exists()).expect("numbers do not end");
        let path = path(number);
        self.bundle.persist_noclobber(&path).with_context(|| format!("cannot write {}", path.display()))?;
        File::open(folder.join("sessions"))?.sync_all()?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
