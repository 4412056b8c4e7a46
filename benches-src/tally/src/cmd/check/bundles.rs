//! Whether what is kept of every bundle is what the bundle comes to. That takes seconds for each
//! session, so it is asked for.

use anyhow::Result;

use crate::print::view::View;
use crate::project::Machine;
use crate::record::contributed::{Contributed, Session};
use crate::record::side_by_side::side_by_side;

/// Opens all of them, and says what is wrong.
pub fn check(view: &View) -> Result<Vec<String>> {
    let project = view.project.with_all_machines();
    let machines = project.machines()?.into_iter().map(Machine::Exported);
    let opened: Vec<Contributed> = machines.map(|machine| Contributed::of(&project, &machine)).collect();
    let sessions: Vec<&Session> = opened.iter().flat_map(|own| &own.sessions).collect();
    let wrong = side_by_side(sessions, Session::check_digest).into_iter().filter_map(Result::err);
    let root = format!("{}/", view.project.root().display());
    Ok(wrong.map(|error| format!("{error:#}").replace(&root, "")).collect())
}
