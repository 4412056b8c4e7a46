//! No record stands twice, in whatever folder: a copy would count as a session, or as a machine, of
//! its own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::contributed::Contributed;
use super::lines::Header;
use crate::project::{Machine, Project};

/// Which records there are, each with the file in which it stands.
#[derive(Debug, Default)]
pub struct Copies(BTreeMap<Key, PathBuf>);

/// What no two records share: their experiment, when they began, and their seed.
type Key = (String, String, u64);

fn key(header: &Header) -> Key {
    (header.experiment.clone(), header.before.time.clone(), header.seed)
}

impl Copies {
    /// The records of all machines that came with the checkout.
    pub fn of(project: &Project) -> Result<Self> {
        let mut own = Self::default();
        for slug in project.machines()? {
            for session in &Contributed::of(project, &Machine::Exported(slug)).sessions {
                // What stands twice already, check says.
                let _ = own.note(&session.path, session.headers());
            }
        }
        Ok(own)
    }

    /// Notes the records of a file. An error says which of them stands somewhere already, or twice
    /// in this file.
    pub fn note<'a>(&mut self, file: &Path, headers: impl Iterator<Item = &'a Header>) -> Result<()> {
        let mut noted = Ok(());
        for header in headers {
            match self.0.entry(key(header)) {
                Entry::Vacant(place) => drop(place.insert(file.to_owned())),
                // Of a copied session, one record says enough.
                Entry::Occupied(place) if noted.is_ok() => noted = stands_twice(file, header, place.get()),
                Entry::Occupied(_) => {}
            }
        }
        noted
    }

    /// Whether records may join those of this folder: none stands in a file elsewhere, or twice
    /// among them.
    pub fn check<'a>(
        &self,
        file: &Path,
        headers: impl Iterator<Item = &'a Header> + Clone,
        folder: &Path,
    ) -> Result<()> {
        Self::default().note(file, headers.clone())?;
        for header in headers {
            if let Some(first) = self.0.get(&key(header)).filter(|first| !first.starts_with(folder)) {
                stands_twice(file, header, first)?;
            }
        }
        Ok(())
    }
}

fn stands_twice(file: &Path, header: &Header, first: &Path) -> Result<()> {
    let record = format!("{}, begun at {},", header.experiment, header.before.time);
    if file == first {
        bail!("{record} stands in it twice");
    }
    bail!("{record} stands in {} already; remove one of the two", first.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{cell, header};

    fn begun(experiment: &str, time: &str, seed: u64) -> Header {
        let mut own = header(vec![cell("a", "free")]);
        own.experiment = experiment.to_owned();
        own.before.time = time.to_owned();
        own.seed = seed;
        own
    }

    #[test]
    fn a_record_stands_once_whatever_its_file_and_folder_are_called() {
        let [ten, eleven] = ["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"];
        let records = [begun("laps", ten, 1), begun("socket", ten, 1), begun("laps", eleven, 1), begun("laps", ten, 2)];
        let [a, b] = ["m/a/1.zst", "m/b/1.zst"].map(Path::new);
        let mut copies = Copies::default();
        copies.note(a, records.iter()).unwrap();
        let said = |noted: Result<()>| noted.unwrap_err().to_string();
        let copied = "laps, begun at 2026-11-20T10:00:00Z, stands in m/a/1.zst already; remove one";
        assert!(said(copies.note(b, records.iter())).starts_with(copied));
        assert!(said(copies.check(b, records.iter(), Path::new("m/b"))).starts_with(copied));
        // A session that comes to its own folder once more is left out there.
        copies.check(b, records.iter(), Path::new("m/a")).unwrap();
        let twice = [records[1].clone(), records[0].clone(), records[1].clone()];
        for twice in [
            said(Copies::default().note(b, twice.iter())),
            said(Copies::default().check(b, twice.iter(), Path::new("m/b"))),
        ] {
            assert_eq!(twice, "socket, begun at 2026-11-20T10:00:00Z, stands in it twice");
        }
    }
}
