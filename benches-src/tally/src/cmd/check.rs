//! `tally check`: plans, listings, pages and records agree.

mod described;
mod pages;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::book::claim::Claim as PlannedClaim;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::published::Figure;
use crate::cmd::claim::Claim;
use crate::cmd::list::operation;
use crate::print::calculator::Calculator;
use crate::print::frame::{planned_cells, shared_parameters};
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::Project;

/// Whether plans, listings, pages and records agree
#[derive(Args)]
pub struct Check {
    /// Hold plans against what the built programs in this folder say of themselves as well
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
}

impl Check {
    /// Looks at everything and reports all that is wrong at once.
    pub fn print(&self, view: &View) -> Result<String> {
        let mut wrong = Vec::new();
        for plan in &view.plans.0 {
            wrong.extend(listings(view, plan)?);
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
        if let Some(programs) = &self.programs {
            wrong.extend(described::check(view, programs)?);
        }
        let (records, aged) = records::check(view)?;
        wrong.extend(records);
        if wrong.is_empty() {
            let aged: String = aged.iter().map(|record| format!("  {record}\n")).collect();
            return Ok(format!("plans, listings, pages and records agree\n{aged}"));
        }
        bail!("{} disagreements:\n  {}", wrong.len(), wrong.join("\n  "));
    }
}

/// Every program is in the plan, says what one operation is, is shown by its chapter, and has words for charts and tables.
fn listings(view: &View, plan: &Plan) -> Result<Vec<String>> {
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
    wrong.extend(words(plan)?);
    for program in programs {
        let listing = Project::listing(&plan.chapter, &program);
        let is_tool = plan.tools.iter().any(|tool| tool.name == program);
        if !is_tool && !plan.experiments.iter().any(|experiment| experiment.group(&program).is_some()) {
            wrong.push(format!("benches-src/{listing} is in no experiment of its chapter's plan.toml"));
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
