//! `tally check`: plans, listings, pages and records agree.

mod bundles;
mod pages;
mod records;
mod side_by_side;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;
use walkdir::WalkDir;

use crate::book::claim::Claim as PlannedClaim;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::published::Figure;
use crate::cmd::check::records::Records;
use crate::cmd::check::side_by_side::side_by_side;
use crate::cmd::claim::Claim;
use crate::cmd::list::operation;
use crate::print::calculator::Calculator;
use crate::print::frame::{planned_cells, shared_parameters};
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::Project;
use crate::record::sources::{self};

/// Whether plans, listings, pages and records agree
#[derive(Args)]
pub struct Check {
    /// Open every bundle of raw samples too, and see whether its digest is what it comes to
    #[arg(long)]
    bundles: bool,
}

impl Check {
    /// Looks at everything and reports all that is wrong at once.
    pub fn print(&self, view: &View) -> Result<String> {
        let records = Records::of(view)?;
        // Records are the half of the work that needs nothing of the other.
        let (mut wrong, (of_records, aged)) = thread::scope(|scope| -> Result<_> {
            let records = scope.spawn(|| records.check());
            let wrong = all_but_records(view)?;
            Ok((wrong, records.join().expect("looking at records does not panic")))
        })?;
        wrong.extend(of_records);
        if self.bundles {
            wrong.extend(bundles::check(view)?);
        }
        if wrong.is_empty() {
            let aged: String = aged.iter().map(|record| format!("  {record}\n")).collect();
            return Ok(format!("plans, listings, pages and records agree\n{aged}"));
        }
        bail!("{} disagreements:\n  {}", wrong.len(), wrong.join("\n  "));
    }
}

fn all_but_records(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let beside = sources::words_beside(&view.project);
    for plan in &view.plans.0 {
        wrong.extend(listings(view, plan, &beside)?);
    }
    wrong.extend(names(view));
    wrong.extend(view.plans.check_quantities());
    wrong.extend(pages::takeaways(view)?);
    wrong.extend(pages::unused(view)?);
    wrong.extend(pages::directives(view)?);
    wrong.extend(pages::typed_figures(view)?);
    wrong.extend(claims(view));
    wrong.extend(captions(view));
    wrong.extend(published(view));
    wrong.extend(calculator(view)?);
    Ok(wrong)
}

/// Every program is in the plan, says what one operation is, is shown by its chapter, and has words for charts and tables.
fn listings(view: &View, plan: &Plan, beside: &HashSet<String>) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let (page, all) =
        (format!("{}/programs.md", plan.chapter), format!("<!-- cmdrun tally listing --all {} -->", plan.chapter));
    if !view.places.text(&page).is_some_and(|text| text.contains(&all)) {
        wrong.push(format!("book/src/{page} does not show the programs of its chapter: {all}"));
    }
    let folder = view.project.benches().join(&plan.chapter).join("src/bin");
    let listed = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let files = listed.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut programs: Vec<String> = files.filter_map(|file| Some(file.strip_suffix(".rs")?.to_owned())).collect();
    programs.sort();
    let tests = tests_of(&view.project, &plan.chapter);
    wrong.extend(parameters(view, plan, beside)?);
    wrong.extend(words(plan)?);
    for program in programs {
        let listing = Project::listing(&plan.chapter, &program);
        let is_tool = plan.tools.iter().any(|tool| tool.name == program);
        if !is_tool && !plan.experiments.iter().any(|experiment| experiment.group(&program).is_some()) {
            wrong.push(format!("benches-src/{listing} is in no experiment of its chapter's plan.toml"));
        }
        if !tests.contains(&format!("CARGO_BIN_EXE_{program}\"")) {
            wrong.push(format!("benches-src/{listing} is run by no test of its chapter"));
        }
        if let Err(error) = operation(&view.project, &plan.chapter, &program) {
            wrong.push(format!("{error:#}"));
        }
    }
    Ok(wrong)
}

/// Every program has a label in words, and no two rows of a figure have the same.
fn words(plan: &Plan) -> Result<Vec<String>> {
    let place = format!("benches-src/{}/programs.toml", plan.chapter);
    let known: BTreeSet<&str> = plan.experiments.iter().flat_map(Experiment::programs).collect();
    let labelled: BTreeSet<&str> = plan.words.programs().collect();
    let without = known.difference(&labelled).map(|program| format!("{place}: {program} has no label"));
    let mut wrong: Vec<String> = without.collect();
    wrong.extend(labelled.difference(&known).map(|program| format!("{place}: no experiment has a program {program}")));
    for experiment in &plan.experiments {
        let cells = planned_cells(experiment)?;
        let shared = shared_parameters(cells.iter());
        let mut labels = BTreeMap::new();
        for cell in &cells {
            let label = (plan.words.cell(cell, &shared), &cell.placement);
            if let Some(other) = labels.insert(label.clone(), cell) {
                wrong.push(format!("{place}: {other} and {cell} of {} are both called {:?}", experiment.name, label.0));
            }
        }
    }
    Ok(wrong)
}

/// The code of a chapter's tests.
fn tests_of(project: &Project, chapter: &str) -> String {
    let files = WalkDir::new(project.benches().join(chapter).join("tests")).into_iter().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect()
}

/// Every parameter that the plan sets stands in the code of the program that is to take it.
fn parameters(view: &View, plan: &Plan, beside: &HashSet<String>) -> Result<Vec<String>> {
    let (mut wrong, mut words) = (BTreeSet::new(), BTreeMap::new());
    let is_named = |own: &HashSet<String>, name: &str| own.contains(name) || beside.contains(name);
    for experiment in &plan.experiments {
        for cell in experiment.full_cells()? {
            let program = &cell.program;
            if !words.contains_key(program) {
                words.insert(program.clone(), sources::words(&view.project, &plan.chapter, program)?);
            }
            for name in cell.parameters.keys().filter(|name| !is_named(&words[program], name)) {
                let of = &experiment.name;
                wrong.insert(format!(
                    "benches-src/{}/plan.toml: {program} has no parameter {name}, which {of} sets",
                    plan.chapter
                ));
            }
        }
    }
    Ok(wrong.into_iter().collect())
}

/// Names are anchors on pages: an experiment's is that of no other experiment and of no program.
fn names(view: &View) -> Vec<String> {
    let mut taken: BTreeSet<&str> =
        view.plans.experiments().flat_map(|(_, experiment)| experiment.programs()).collect();
    let twice = view.plans.experiments().filter(|(_, experiment)| !taken.insert(&experiment.name));
    let say = |(plan, experiment): (&Plan, &Experiment)| {
        let (chapter, name) = (&plan.chapter, &experiment.name);
        format!(
            "benches-src/{chapter}/plan.toml: the name {name:?} belongs to a program or to another experiment already"
        )
    };
    twice.map(say).collect()
}

/// Every claim can be judged and, whatever the verdict elsewhere, concluded.
fn claims(view: &View) -> Vec<String> {
    let check = |claim: &PlannedClaim| -> Result<()> {
        Claim { id: Some(claim.id.clone()), line: false, machines: false }.print(view, Form::Text)?;
        let (_, experiment) = view.plans.experiment(&claim.experiment)?;
        for sentence in claim.conclusion.sentences() {
            render::fill(view, experiment, &sentence, Form::Text).with_context(|| format!("{sentence:?}"))?;
        }
        Ok(())
    };
    let wrong = |claim: &PlannedClaim| Some(format!("claim {}: {:#}", claim.id, check(claim).err()?));
    view.plans.claims().filter_map(|(_, claim)| wrong(claim)).collect()
}

/// Every caption can be filled in.
fn captions(view: &View) -> Vec<String> {
    let wrong = |(_, experiment): (&Plan, &Experiment)| {
        let error = |text: &String| render::fill(view, experiment, text, Form::Text).err();
        let errors = experiment.captions.values().filter_map(error);
        errors.map(|error| format!("a caption of {}: {error:#}", experiment.name)).collect::<Vec<_>>()
    };
    view.plans.experiments().flat_map(wrong).collect()
}

fn published(view: &View) -> Vec<String> {
    let stands_beside_a_cell = |figure: &Figure, text: &str| -> Result<()> {
        for (_, experiment) in view.plans.experiments() {
            for cell in experiment.full_cells()? {
                if figure.stands_beside(&cell)? {
                    return Ok(());
                }
            }
        }
        bail!("every cell like {text} has parameters that it does not say")
    };
    let check = |(_, figure): (_, &Figure)| {
        let error = stands_beside_a_cell(figure, figure.beside.as_ref()?).err()?;
        Some(format!("published figure {}: {error:#}", figure.id))
    };
    view.published.figures().filter_map(check).collect()
}

/// What the calculator takes is measured, and what it computes can be computed.
fn calculator(view: &View) -> Result<Vec<String>> {
    let Some(path) = view.project.calculator()? else { return Ok(Vec::new()) };
    let place = path.strip_prefix(view.project.root()).unwrap_or(&path).display();
    Ok(match Calculator::load(&view.project) {
        Ok(calculator) => calculator.wrong(view).into_iter().map(|wrong| format!("{place}: {wrong}")).collect(),
        Err(error) => vec![format!("{error:#}")],
    })
}

#[cfg(test)]
mod tests;
