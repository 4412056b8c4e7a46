//! Whether every bundle can be unpacked, and every digest is what its bundle comes to. That takes seconds for each session, so it is asked for.

use anyhow::Result;

use super::side_by_side;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::contributed::{Contributed, Session};
use crate::record::smuggled;

/// Opens all of them, and says what is wrong.
pub fn check(view: &View) -> Result<Vec<String>> {
    let machines = view.project.machines()?.into_iter();
    let opened: Vec<Contributed> =
        machines.map(|slug| Contributed::open(&view.project.data(&Machine::Exported(slug)))).collect();
    let sessions: Vec<&Session> = opened.iter().flat_map(|own| &own.sessions).collect();
    let wrong = side_by_side(sessions, |session| match of_one(session) {
        Ok(wrong) => wrong,
        Err(error) => vec![format!("{error:#}")],
    });
    let root = format!("{}/", view.project.root().display());
    Ok(wrong.into_iter().flatten().map(|words| words.replace(&root, "")).collect())
}

fn of_one(session: &Session) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (entry, lines) in session.digest.head.records.iter().zip(&*session.lines()?) {
        if let Some(line) = smuggled(lines)? {
            wrong.push(format!(
                "{}, {}, line {line}: holds something that the format of records does not have",
                session.bundle().display(),
                entry.name()
            ));
        }
    }
    session.records_as_written()?;
    Ok(wrong)
}
