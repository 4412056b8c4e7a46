//! Every session that a machine ever had: those in its folder, and those that others replaced
//! before sessions were kept. Of these, `data/history` has the digests, frozen; the raw samples are
//! in the history of the repository.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::compression;
use super::contributed::Contributed;
use super::digest::Digest;
use super::records::Record;
use crate::project::{Machine, Project};

/// All records of an experiment on a machine, in no order.
pub struct Former {
    pub machine: String,
    kept: Vec<Kept>,
}

/// A record of a digest, and the name of the session of which it is one; that of the frozen digest
/// has none.
struct Kept {
    digest: Rc<Digest>,
    index: usize,
    session: Option<String>,
}

impl Former {
    /// Each with the name of its session in the machine's folder, if it lies there.
    pub fn records(&self) -> Result<Vec<(Record, Option<String>)>> {
        let read = |Kept { digest, index, session }: &Kept| {
            let place = || format!("a session of {}, {}", self.machine, digest.head.records[*index].name());
            Ok((digest.record(*index).with_context(place)?, session.clone()))
        };
        self.kept.iter().map(read).collect()
    }
}

/// Every record of every machine, those of a machine's experiment together.
pub fn history(project: &Project) -> Result<Vec<Former>> {
    let mut groups: BTreeMap<[String; 3], Former> = BTreeMap::new();
    for machine in project.machines()? {
        for (digest, session) in digests(project, &machine)? {
            let digest = Rc::new(digest);
            for (index, entry) in digest.head.records.iter().enumerate() {
                let of_one = groups.entry([&machine, &entry.chapter, &entry.experiment].map(Clone::clone));
                let former = of_one.or_insert_with(|| Former { machine: machine.clone(), kept: Vec::new() });
                former.kept.push(Kept { digest: digest.clone(), index, session: session.clone() });
            }
        }
    }
    Ok(groups.into_values().collect())
}

/// The digests of a machine's sessions, the frozen one first, and the sessions' names.
fn digests(project: &Project, machine: &str) -> Result<Vec<(Digest, Option<String>)>> {
    let path = project.history().join(format!("{machine}.digest.zst"));
    let in_file = || path.display().to_string();
    let frozen = compression::read(&path).with_context(in_file)?;
    let frozen = frozen.map(|bytes| Digest::read(&bytes)).transpose().with_context(in_file)?;
    let there = Contributed::open(&project.data(&Machine::Exported(machine.to_owned())), &project.digests());
    ensure!(there.unreadable.is_empty(), "{}", there.unreadable.join("\n"));
    let named = there.sessions.into_iter().map(|session| {
        let name = session.name();
        (session.digest, Some(name))
    });
    Ok(frozen.into_iter().map(|digest| (digest, None)).chain(named).collect())
}
