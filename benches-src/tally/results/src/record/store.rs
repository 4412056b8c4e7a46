//! The records of a machine, wherever they are kept: this checkout's own as files of lines, those
//! that came with it as sessions.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail, ensure};

use super::checksum::sha256;
use super::contributed::{Contributed, Session};
use super::freshness::{Current, Freshness};
use super::lines::Header;
use super::records::Record;
use super::sessions::earlier;
use crate::book::renamed;
use crate::project::{Machine, Project};

/// The machine of this name, or of one of its sessions: `NAME/2026-11-25-2`.
pub fn machine_or_session(project: &Project, name: &str) -> Result<Machine> {
    let Some((machine, session)) = name.split_once('/') else { return project.machine(name) };
    let machine = project.machine(machine)?;
    let Machine::Exported(slug) = &machine else {
        bail!("{} has no sessions; those of a machine of data/machines have names", machine.name());
    };
    let known: Vec<String> = Contributed::of(project, &machine).sessions.iter().map(Session::name).collect();
    ensure!(
        known.iter().any(|name| name == session),
        "{slug} has no session {session:?}; it has: {}",
        known.join(", ")
    );
    Ok(Machine::Session(format!("{slug}/{session}")))
}

/// A machine's records.
pub struct Store {
    kept: Kept,
    /// How fresh they are, by experiment, seed and when each was begun: pages ask again and again.
    freshness: Mutex<HashMap<(String, u64, String), Freshness>>,
}

enum Kept {
    Local(Project),
    Exported(Contributed),
}

/// A record that there is, of which the header was read. Its cells are called as they are today.
pub struct Found<'a> {
    /// What was measured, and where.
    pub header: Arc<Header>,
    place: Place<'a>,
    store: &'a Store,
    current: &'a Current,
}

/// Another session, and the programs of whose numbers it speaks.
pub struct Other {
    pub record: Record,
    pub programs: BTreeSet<String>,
}

enum Place<'a> {
    File(PathBuf),
    Session(&'a Contributed, &'a Session, usize),
}

impl Store {
    /// Opens a machine's records. What cannot be read is said when it is asked for.
    pub fn open(project: &Project, machine: &Machine) -> Self {
        let kept = match machine {
            Machine::Local => Kept::Local(project.clone()),
            Machine::Exported(_) => Kept::Exported(Contributed::of(project, machine)),
            Machine::Session(own) => {
                let mut all = Contributed::of(project, machine);
                all.sessions.retain(|session| own.ends_with(&format!("/{}", session.name())));
                Kept::Exported(all)
            }
        };
        Self { kept, freshness: Mutex::default() }
    }

    /// How one of its records relates to what lies here.
    pub fn freshness(&self, current: &Current, header: &Header) -> Freshness {
        let key = (header.experiment.clone(), header.seed, header.before.time.clone());
        let mut known = self.freshness.lock().expect("nothing panics in it");
        known.entry(key).or_insert_with(|| current.freshness(header)).clone()
    }

    /// The record of an experiment; nothing where there is none. Of several sessions it is one of
    /// the listings as they lie here if there is one, then the one that was measured with most
    /// effort, then the latest.
    pub fn find<'a>(&'a self, chapter: &str, experiment: &str, current: &'a Current) -> Result<Option<Found<'a>>> {
        let found = |header, place| Found::of(self, header, place, current);
        match &self.kept {
            Kept::Local(project) => {
                let path = project.local_record(chapter, experiment);
                let header = Record::load_header(&path)?;
                Ok(header.map(|header| found(header.into(), Place::File(path))))
            }
            Kept::Exported(own) => {
                if let Some(unreadable) = self.unreadable() {
                    bail!("{unreadable}");
                }
                let rank = |header: &Header| {
                    let is_shown = !matches!(self.freshness(current, header), Freshness::Stale(_));
                    (is_shown, header.effort, header.before.time.clone())
                };
                let best = own.records_of(chapter, experiment).max_by_key(|(.., header)| rank(header));
                Ok(best.map(|(session, index, header)| found(header.clone(), Place::Session(own, session, index))))
            }
        }
    }

    /// What came with the checkout, if it did.
    pub fn contributed(&self) -> Option<&Contributed> {
        match &self.kept {
            Kept::Local(_) => None,
            Kept::Exported(own) => Some(own),
        }
    }

    /// The sessions that came with the checkout, as far as they can be read.
    pub fn sessions(&self) -> &[Session] {
        self.contributed().map_or(&[], |own| &own.sessions)
    }

    /// What cannot be read of what came with the checkout, if there is any: then no record of it is
    /// shown.
    pub fn unreadable(&self) -> Option<&str> {
        self.contributed()?.unreadable.first().map(String::as_str)
    }

    /// Whether there is a record of an experiment.
    pub fn has(&self, chapter: &str, experiment: &str) -> bool {
        match &self.kept {
            Kept::Local(project) => project.local_record(chapter, experiment).exists(),
            Kept::Exported(own) => own.records_of(chapter, experiment).next().is_some(),
        }
    }
}

impl<'a> Found<'a> {
    fn of(store: &'a Store, mut header: Arc<Header>, place: Place<'a>, current: &'a Current) -> Self {
        if !current.renamed.is_empty() {
            renamed::call(&current.renamed, &mut Arc::make_mut(&mut header).cells);
        }
        Self { header, place, store, current }
    }

    /// How it relates to what lies here.
    pub fn freshness(&self) -> Freshness {
        self.store.freshness(self.current, &self.header)
    }

    pub fn load(&self) -> Result<Option<Record>> {
        let record = match &self.place {
            Place::File(path) => Record::load(path)?,
            Place::Session(_, session, index) => Some(session.record(*index)?),
        };
        Ok(record.map(|record| self.called(record)))
    }

    fn called(&self, mut record: Record) -> Record {
        renamed::call(&self.current.renamed, &mut record.header.cells);
        record
    }

    /// Where it lies, in words.
    pub fn place(&self) -> String {
        let path = match &self.place {
            Place::File(path) => path,
            Place::Session(_, session, _) => &session.path,
        };
        format!("{}, {}/{}", path.display(), self.header.chapter, self.header.experiment)
    }

    /// The other sessions that speak of any of its programs, each once.
    pub fn others(&self) -> Result<Vec<Other>> {
        let own = self.freshness();
        let mut others = Vec::new();
        match &self.place {
            Place::File(path) => {
                for record in earlier(path, &self.header)? {
                    let programs = self.programs_of(&record.header, &own);
                    others.push(Other { record, programs });
                }
            }
            Place::Session(machine, ..) => {
                let mut known = BTreeSet::from([&self.header.before.time]);
                for (session, index, header) in machine.records_of(&self.header.chapter, &self.header.experiment) {
                    let programs = self.programs_of(header, &own);
                    if !programs.is_empty() && known.insert(&header.before.time) {
                        others.push(Other { record: session.record(index)?, programs });
                    }
                }
            }
        }
        others.retain(|other| !other.programs.is_empty());
        Ok(others.into_iter().map(|other| Other { record: self.called(other.record), ..other }).collect())
    }

    /// The programs of whose numbers another session speaks as this one does: all if they are of
    /// the same, and else those that neither is stale of.
    fn programs_of(&self, other: &Header, own: &Freshness) -> BTreeSet<String> {
        let programs = self.header.cells.iter().map(|cell| cell.program.clone());
        if other.is_of_the_same(&self.header) {
            return programs.collect();
        }
        let there = self.store.freshness(self.current, other);
        let speaks = |freshness: &Freshness, program: &str| !matches!(freshness.of([program]), Freshness::Stale(_));
        programs.filter(|program| speaks(own, program) && speaks(&there, program)).collect()
    }

    /// Its lines, with all raw samples.
    pub fn lines(&self) -> Result<String> {
        match &self.place {
            Place::File(path) => Ok(fs::read_to_string(path)?),
            Place::Session(_, session, index) => Ok(session.lines()?[*index].clone()),
        }
    }

    /// Whether a file has its lines, as far as that is known without unpacking them.
    pub fn is_copied_to(&self, path: &std::path::Path) -> bool {
        let Place::Session(_, session, index) = &self.place else { return false };
        fs::read(path).is_ok_and(|lines| sha256(&lines) == session.digest.head.records[*index].sha256)
    }
}
