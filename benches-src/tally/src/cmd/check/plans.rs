//! What the files of plans say: programs with their entries and listings, names, and lines that
//! nobody reads to their end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::book::claim::Claim;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::plan_file::{self, LONGEST_LINE};
use crate::book::reading::part;
use crate::cmd::listing::operation;
use crate::compute::kind::Kind;
use crate::print::frame::shared_parameters;
use crate::print::view::View;
use crate::project::Project;

/// Every program has an entry, says what one operation is, is run by an experiment, and is shown by
/// its chapter.
pub fn listings(view: &View, plan: &Plan) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let (page, all) =
        (format!("{}/programs.md", plan.chapter), format!("<!-- cmdrun tally listing --all {} -->", plan.chapter));
    if !view.places.text(&page).is_some_and(|text| text.contains(&all)) {
        wrong.push(format!("book/src/{page} does not show the programs of its chapter: {all}"));
    }
    let programs = view.project.programs_in(&plan.chapter)?;
    wrong.extend(entries(view, plan, &programs));
    for program in programs {
        if let Err(error) = operation(&view.project, &plan.chapter, &program) {
            wrong.push(format!("{error:#}"));
        }
    }
    Ok(wrong)
}

/// A program has an entry, or is one of the tools; and what has either is a program.
fn entries(view: &View, plan: &Plan, programs: &BTreeSet<String>) -> Vec<String> {
    let place = view.project.place(&view.project.programs_of(&plan.chapter));
    let listing = |program: &str| format!("benches-src/{}", Project::listing(&plan.chapter, program));
    let known: BTreeSet<&str> = plan.programs.names().collect();
    let tools: BTreeSet<&str> = plan.programs.tools.iter().map(String::as_str).collect();
    let run: BTreeSet<&str> = plan.experiments.iter().flat_map(Experiment::programs).collect();
    let mut wrong = Vec::new();
    for program in programs.iter().map(String::as_str) {
        if !known.contains(program) && !tools.contains(program) {
            let entry = format!("{program} = {{ label = \"…\", series = \"thread\" }}");
            wrong.push(format!("{place}: {} has no entry; below [program], write: {entry}", listing(program)));
        }
    }
    for program in known.iter().chain(&tools) {
        if !programs.contains(*program) {
            wrong.push(format!("{place}: {program} stands there, and there is no {}", listing(program)));
        } else if known.contains(program) && !run.contains(program) {
            let folder = view.project.place(&view.project.experiments(&plan.chapter));
            wrong.push(format!("{place}: no experiment runs {program}; name it in the cells of a file in {folder}"));
        }
    }
    wrong
}

/// No two rows of a figure are called the same, and no number stands in one without words.
pub fn labels(view: &View, plan: &Plan) -> Result<Vec<String>> {
    let place = view.project.place(&view.project.programs_of(&plan.chapter));
    let mut wrong = Vec::new();
    for experiment in &plan.experiments {
        let cells = experiment.planned_cells()?;
        let shared = shared_parameters(cells.iter());
        let mut labels = BTreeMap::new();
        let values = cells.iter().flat_map(|cell| &cell.parameters);
        let bare: BTreeSet<_> = values
            .filter(|(name, value)| plan.programs.lacks_words(name, value))
            .map(|(name, value)| {
                format!("{place}: [parameter] {name} has no words for {value}, of {}", experiment.name)
            })
            .collect();
        wrong.extend(bare);
        for cell in &cells {
            let label = (plan.programs.cell(cell, &shared), &cell.placement);
            if let Some(other) = labels.insert(label.clone(), cell) {
                wrong.push(format!("{place}: {other} and {cell} of {} are both called {:?}", experiment.name, label.0));
            }
        }
    }
    Ok(wrong)
}

/// Names are anchors on pages: an experiment's is that of no other experiment and of no program,
/// and a claim's that of no other claim.
pub fn names(view: &View) -> Vec<String> {
    let mut taken: BTreeSet<&str> =
        view.plans.experiments().flat_map(|(_, experiment)| experiment.programs()).collect();
    let experiments = view.plans.experiments().filter(|(_, experiment)| !taken.insert(&experiment.name));
    let mut wrong: Vec<String> = experiments
        .map(|(plan, Experiment { name, .. })| {
            let place = view.project.place(&view.project.experiment(&plan.chapter, name));
            format!("{place}: the name {name:?} belongs to a program or to another experiment already")
        })
        .collect();
    let mut taken = BTreeSet::new();
    wrong.extend(view.plans.claims().filter(|(_, claim)| !taken.insert(&claim.id)).map(|(plan, Claim { id, .. })| {
        let place = view.project.place(&view.project.claim(&plan.chapter, id));
        format!("{place}: the id {id:?} belongs to a claim of another chapter already")
    }));
    wrong
}

/// Every measure that programs report has a kind in `measures.toml`, and none is there that no
/// experiment has. A book that declares none, as tests make them, has none to forget.
pub fn measures(view: &View) -> Vec<String> {
    let path = view.project.measures();
    if !path.exists() {
        return Vec::new();
    }
    let place = view.project.place(&path);
    let mut reported: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, experiment) in view.plans.experiments() {
        let own = experiment.measures.iter().chain(&experiment.further_measures);
        reported.extend(own.map(|measure| (part(measure).0, experiment.name.as_str())));
    }
    let without = reported.iter().filter(|(measure, _)| Kind::declared(measure).is_none());
    let without = without.map(|(measure, experiment)| {
        format!("{place}: {measure:?}, which programs of {experiment} report, has no kind: add it")
    });
    let unused = Kind::all_declared().filter(|measure| !reported.contains_key(measure));
    let unused = unused.map(|measure| format!("{place}: no experiment has {measure:?}: remove it"));
    without.chain(unused).collect()
}

/// No line of a plan's file is longer than what stands side by side in a diff.
pub fn long_lines(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for path in files(view)? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let place = view.project.place(&path);
        wrong.extend(plan_file::long_lines(&text).map(|(line, signs)| {
            format!(
                "{place}, line {line}: {signs} characters, and a line of a plan has at most {LONGEST_LINE}; break a \
                 text in \"\"\"…\"\"\" by a \
                 backslash at the line's end"
            )
        }));
    }
    Ok(wrong)
}

/// Every file that a plan is made of.
fn files(view: &View) -> Result<Vec<PathBuf>> {
    let project = &view.project;
    let mut files = project.takeaways();
    for Plan { chapter, .. } in &view.plans.all {
        let single = [project.programs_of(chapter), project.order(chapter), project.quantities(chapter)];
        files.extend(single.into_iter().filter(|path| path.is_file()));
        for folder in [project.experiments(chapter), project.claims(chapter)] {
            files.extend(plan_file::in_folder(&folder)?.into_iter().map(|(_, path)| path));
        }
    }
    Ok(files)
}
