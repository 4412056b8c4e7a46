//! What the programs come to that were just built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};

use crate::project::Project;
use crate::record::programs::Programs;
use crate::say;

/// The machine code of programs that lie in a folder, as far as it can be read; it is noted down,
/// so that printing knows it. None of their files may have changed since `before` the build.
pub fn code(
    project: &Project,
    folder: &Path,
    programs: &BTreeSet<String>,
    before: &Programs,
) -> Result<BTreeMap<String, String>> {
    let now = Programs::read(project)?;
    let files = |of: &Programs| {
        programs
            .iter()
            .filter_map(|program| of.files.get(program))
            .flatten()
            .map(|(file, hash)| (file.clone(), hash.clone()))
            .collect::<BTreeMap<_, _>>()
    };
    let then = files(before);
    if let Some((file, _)) = files(&now).iter().find(|(file, hash)| then.get(*file).is_some_and(|then| then != *hash)) {
        bail!("benches-src/{file} was changed while the programs were built; run again");
    }
    let (built, unread) = now.built(project, folder, programs)?;
    if let Some(reason) = unread.first() {
        let many = unread.len();
        say!("tally: {many} programs are known by their sources only: {reason}");
    }
    if let Err(error) = built.note_down(&project.programs_built_here()) {
        say!("tally: warning: {error:#}");
    }
    Ok(built.program.into_iter().map(|(name, own)| (name, own.code)).collect())
}
