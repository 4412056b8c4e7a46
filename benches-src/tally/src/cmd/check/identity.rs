//! Whether what is written down of programs is what the compiler made of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::book::plan::Plan;
use crate::book::plan_file;
use crate::print::view::View;
use crate::project::Project;
use crate::record::programs::Built;

/// What of the programs that were built into a folder is written down otherwise, or not at all.
pub fn check(view: &View, folder: &Path) -> Result<Vec<String>> {
    let path = view.project.built_for_this_machine();
    let place = view.project.place(&path);
    let cure = "run: cargo tally identify";
    if !path.is_file() {
        // Of another kind of machine nothing is written down, and sources alone tell.
        let is_any = !plan_file::in_folder(&view.project.data_of_programs())?.is_empty();
        return Ok(if is_any { Vec::new() } else { vec![format!("{place} is not there; {cure}")] });
    }
    let known: Built = plan_file::read(&view.project, &path)?;
    let built = Built::of_all(&view.project, folder)?;
    let mut wrong = Vec::new();
    for (chapter, files) in &built.shared {
        let known = known.shared.get(chapter);
        let lacking = files.iter().filter(|file| known.is_none_or(|known| !known.contains(*file)));
        wrong.extend(lacking.map(|file| format!("{place}: programs of {chapter} are made of {file} too; {cure}")));
    }
    for (program, compiled) in &built.program {
        let own = |built: &Built| built.own.get(program).cloned().unwrap_or_default();
        let lacking = &own(&built) - &own(&known);
        if !lacking.is_empty() {
            let lacking = lacking.into_iter().collect::<Vec<_>>().join(", ");
            wrong.push(format!("{place}: {program} is made of {lacking} too; {cure}"));
        } else if known.program.get(program) != Some(compiled) {
            wrong.push(format!("{place}: the code of {program} is another one; {cure}"));
        }
    }
    Ok(wrong)
}

/// A program that names another between quotation marks starts it, and has to say so.
pub fn starts(view: &View, plan: &Plan) -> Vec<String> {
    let place = view.project.place(&view.project.programs_of(&plan.chapter));
    let all = plan.all_programs();
    let mut wrong = BTreeSet::new();
    for program in &all {
        let started = plan.programs.with_started(program);
        for other in started.iter().filter(|other| !all.contains(&other.as_str())) {
            wrong.insert(format!("{place}: {program} starts {other}, and there is no such program"));
        }
        let code = Project::listing(&plan.chapter, program);
        let code = fs::read_to_string(view.project.benches().join(code)).unwrap_or_default();
        let named = all.iter().filter(|other| code.contains(&format!("\"{other}\"")) && !started.contains(**other));
        wrong.extend(
            named.map(|other| {
                format!("{place}: {program} names {other}; if it starts it, write: starts = [\"{other}\"]")
            }),
        );
    }
    wrong.into_iter().collect()
}
