//! Whether what is kept of every bundle is what the bundle comes to. That takes seconds for each
//! session, so it is asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;

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
    let asked: BTreeSet<PathBuf> = asked.iter().map(|path| project.root().join(path)).collect();
    let is_asked = |own: &&Session| asked.is_empty() || asked.contains(&own.path);
    let sessions: Vec<&Session> = opened.iter().flat_map(|own| &own.sessions).filter(is_asked).collect();
    let unknown = asked.iter().filter(|path| !sessions.iter().any(|own| own.path == **path));
    let mut wrong: Vec<String> =
        unknown.map(|path| format!("{} is no session's bundle", project.place(path))).collect();
    let errors = side_by_side(sessions, Session::check_digest).into_iter().filter_map(Result::err);
    wrong.extend(errors.map(|error| view.unreadable(&error).reason));
    Ok(wrong)
}
