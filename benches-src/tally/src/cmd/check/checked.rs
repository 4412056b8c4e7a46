//! Which machine's records were found without fault before: what decides it is hashed, and where
//! nothing of it has changed, they need not be read again.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::records::Shown;
use crate::measure::child::own_edition;
use crate::project::{Machine, Project};
use crate::record::Header;
use crate::record::checksum::hash;
use crate::record::contributed::Contributed;

/// What a machine's records are found by.
pub struct Checked {
    path: PathBuf,
    hash: String,
}

impl Checked {
    /// Of the records that pages show of a machine.
    pub fn of(project: &Project, machine: &Machine, own: &Contributed, shown: &[Shown]) -> Result<Self> {
        let bundles = own.sessions.iter().map(|session| session.digest.head.bundle.as_str());
        let mut all: String = [own_edition()?.as_str()].into_iter().chain(bundles).collect::<Vec<_>>().join("\n");
        for Shown { found, planned, .. } in shown {
            let Header { experiment, seed, cells, .. } = &*found.header;
            all += &format!("\n{experiment} {seed} {cells:?}");
            all.extend(planned.named.iter().map(|(name, expression)| format!("\n{name}: {expression:?}")));
        }
        Ok(Self { path: project.checked(machine.slug()), hash: hash(all.as_bytes()) })
    }

    /// Whether they were found without fault.
    pub fn before(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|known| known == self.hash)
    }

    /// Notes that they are. Where that cannot be written, they are read again the next time.
    pub fn note(&self) {
        let _ = self.path.parent().map(fs::create_dir_all);
        let _ = fs::write(&self.path, &self.hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_known_until_anything_differs() {
        let folder = tempfile::tempdir().unwrap();
        let of = |hash: &str| Checked { path: folder.path().join("checked/a-machine"), hash: hash.to_owned() };
        assert!(!of("one").before());
        of("one").note();
        assert!(of("one").before() && !of("other").before());
        fs::write(folder.path().join("checked/a-machine"), "on").unwrap();
        assert!(!of("one").before(), "it was cut off");
    }
}
