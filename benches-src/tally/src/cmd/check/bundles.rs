//! Whether what is kept of every bundle is what the bundle comes to. That takes seconds for each
//! session, so it is asked for.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::print::view::View;
use crate::project::Machine;
use crate::record::contributed::{Contributed, Session};
use crate::record::side_by_side::side_by_side;

/// Opens these, or all if none is named, and says what is wrong.
pub fn check(view: &View, asked: &[PathBuf]) -> Result<Vec<String>> {
    let project = view.project.with_all_machines();
    let machines = project.machines()?.into_iter().map(Machine::Exported);
    let opened: Vec<Contributed> = machines.map(|machine| Contributed::of(&project, &machine)).collect();
    let all: Vec<&Session> = opened.iter().flat_map(|own| &own.sessions).collect();
    let is = |own: &Session, path: &Path| own.path == project.root().join(path);
    let unknown = asked.iter().filter(|path| !all.iter().any(|own| is(own, path)));
    let mut wrong: Vec<String> = unknown.map(|path| format!("{} is no session's bundle", path.display())).collect();
    let is_asked = |own: &&Session| asked.is_empty() || asked.iter().any(|path| is(own, path));
    let errors = side_by_side(all.into_iter().filter(is_asked).collect(), Session::check_digest);
    let root = format!("{}/", view.project.root().display());
    wrong.extend(errors.into_iter().filter_map(Result::err).map(|error| format!("{error:#}").replace(&root, "")));
    Ok(wrong)
}
