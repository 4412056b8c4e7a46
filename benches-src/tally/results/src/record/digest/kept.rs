//! Digests that were made before: a file each below `target`, named by the SHA-256 of the bundle.
//! One that is missing, broken, or made by other code is made anew, without a word.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};

use super::{Digest, packed};
use crate::record::checksum::sha256;
use crate::record::compression as file;
use crate::record::records::RawRecord;

/// All that decides what a bundle comes to, and how a digest says it.
const CODE: [&str; 9] = [
    include_str!("../digest.rs"),
    include_str!("../strict.rs"),
    include_str!("../lines.rs"),
    include_str!("../names.rs"),
    include_str!("../seen.rs"),
    include_str!("../validity.rs"),
    include_str!("../records.rs"),
    include_str!("../../statistics.rs"),
    include_str!("../../../../../observation/src/lib.rs"),
];

/// The hash of that code.
pub(super) fn made_by() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| sha256(CODE.concat().as_bytes()));
    &HASH
}

impl Digest {
    /// The digest of a bundle: the one that is kept in this folder, or else what the bundle comes
    /// to, which is kept from then on.
    pub fn of(bundle: &[u8], folder: &Path) -> Result<Self> {
        let sum = sha256(bundle);
        let path = folder.join(&sum);
        let is_its_own = |own: &Self| own.head.bundle == sum && own.head.made_by == made_by();
        if let Some(known) = read(&path).ok().filter(is_its_own) {
            return Ok(known);
        }
        let packed = packed(bundle, RawRecord::of_bundle)?;
        let made = Self::read(&packed)?;
        // On a disk that is full or cannot be written, it is made anew the next time.
        let _ = keep(&path, &packed);
        Ok(made)
    }
}

/// Reads what was kept. A sum of all of it stands before it.
fn read(path: &Path) -> Result<Digest> {
    let bytes = file::read(path)?.context("it is missing")?;
    let end = bytes.iter().position(|byte| *byte == b'\n').context("it has no sum")?;
    let packed = &bytes[end + 1..];
    ensure!(sha256(packed).as_bytes() == &bytes[..end], "it was cut off or changed");
    Digest::read(packed)
}

/// Writes it in one step, since another process may do so too.
fn keep(path: &Path, packed: &[u8]) -> Result<()> {
    let folder = path.parent().context("it lies in a folder")?;
    fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(new, "{}", sha256(packed))?;
    new.write_all(packed)?;
    new.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
