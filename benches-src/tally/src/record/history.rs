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
    kept: Vec<(Rc<Digest>, usize)>,
}

impl Former {
    pub fn records(&self) -> Result<Vec<Record>> {
        let read = |(digest, index): &(Rc<Digest>, usize)| {
            let place = || format!("a session of {}, {}", self.machine, digest.head.records[*index].name());
            digest.record(*index).with_context(place)
        };
        self.kept.iter().map(read).collect()
    }
}

/// Every record of every machine, those of a machine's experiment together.
pub fn history(project: &Project) -> Result<Vec<Former>> {
    let mut groups: BTreeMap<[String; 3], Former> = BTreeMap::new();
    for machine in project.machines()? {
        for digest in digests(project, &machine)?.into_iter().map(Rc::new) {
            for (index, entry) in digest.head.records.iter().enumerate() {
                let of_one = groups.entry([&machine, &entry.chapter, &entry.experiment].map(Clone::clone));
                let former = of_one.or_insert_with(|| Former { machine: machine.clone(), kept: Vec::new() });
                former.kept.push((digest.clone(), index));
            }
        }
    }
    Ok(groups.into_values().collect())
}

/// The digests of a machine's sessions, the frozen one first.
fn digests(project: &Project, machine: &str) -> Result<Vec<Digest>> {
    let path = project.history().join(format!("{machine}.digest.zst"));
    let in_file = || path.display().to_string();
    let frozen = compression::read(&path).with_context(in_file)?;
    let frozen = frozen.map(|bytes| Digest::read(&bytes)).transpose().with_context(in_file)?;
    let there = Contributed::open(&project.data(&Machine::Exported(machine.to_owned())), &project.digests());
    ensure!(there.unreadable.is_empty(), "{}", there.unreadable.join("\n"));
    Ok(frozen.into_iter().chain(there.sessions.into_iter().map(|session| session.digest)).collect())
}
