//! `tally check`: plans, listings, pages and records agree.

mod bundles;
mod checked;
mod described;
mod identity;
mod instrument;
mod pages;
mod plans;
mod records;

use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::book::claim::Claim as PlannedClaim;
use crate::book::plan::Plan;
use crate::book::published::Figure;
use crate::cmd::check::records::Records;
use crate::cmd::claim::can_be_concluded;
use crate::print::formats;
use crate::print::render::Form;
use crate::print::sentences;
use crate::print::view::View;

/// Whether plans, listings, pages and records agree
#[derive(Args)]
pub struct Check {
    /// Hold plans against what the built programs in this folder say of themselves as well
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Open bundles of raw samples too, these or else all, and see whether what target/digests
    /// keeps is what each comes to
    #[arg(long, value_name = "BUNDLE", num_args = 0..)]
    bundles: Option<Vec<PathBuf>>,
}

impl Check {
    /// Looks at everything and reports all that is wrong at once. The view has the reference
    /// machine alone: what can be said does not depend on how many machines there are, and the
    /// records of all are looked at one machine after the other.
    pub fn print(&self, view: &View) -> Result<String> {
        let records = Records::of(view)?;
        // Records are the half of the work that needs nothing of the other.
        let (mut wrong, (of_records, aged)) = thread::scope(|scope| -> Result<_> {
            let records = scope.spawn(|| records.check());
            let wrong = all_but_records(view)?;
            Ok((wrong, records.join().expect("looking at records does not panic")?))
        })?;
        wrong.extend(of_records);
        if let Some(programs) = &self.programs {
            wrong.extend(described::check(view, programs)?);
            wrong.extend(identity::check(view, programs)?);
        }
        if let Some(asked) = &self.bundles {
            wrong.extend(bundles::check(view, asked)?);
        }
        if wrong.is_empty() {
            let told = instrument::predictions(view)?;
            let aged: String = aged.iter().chain(&told).map(|record| format!("  {record}\n")).collect();
            return Ok(format!("plans, listings, pages and records agree\n{aged}"));
        }
        bail!("{} disagreements:\n  {}", wrong.len(), wrong.join("\n  "));
    }
}

fn all_but_records(view: &View) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for plan in &view.plans.all {
        wrong.extend(plans::listings(view, plan)?);
        wrong.extend(plans::labels(view, plan)?);
        wrong.extend(identity::starts(view, plan));
    }
    wrong.extend(plans::names(view));
    wrong.extend(plans::measures(view));
    wrong.extend(plans::long_lines(view)?);
    wrong.extend(formats::check(&view.project).err().map(|error| format!("{error:#}")));
    wrong.extend(view.plans.check_quantities());
    wrong.extend(pages::takeaways(view)?);
    wrong.extend(pages::unused(view)?);
    wrong.extend(pages::directives(view)?);
    wrong.extend(pages::typed_figures(view)?);
    wrong.extend(claims(view));
    wrong.extend(published(view));
    wrong.extend(calculator(view)?);
    wrong.extend(instrument::differences(view)?);
    Ok(wrong)
}

/// Every claim can be judged and, whatever the verdict elsewhere, concluded.
fn claims(view: &View) -> Vec<String> {
    let check = |plan: &Plan, claim: &PlannedClaim| -> Result<()> {
        can_be_concluded(view, plan, claim)?;
        let (_, experiment) = view.plans.experiment(&claim.experiment)?;
        for sentence in claim.conclusions() {
            sentences::fill(view, experiment, &sentence, Form::Text).with_context(|| format!("{sentence:?}"))?;
        }
        Ok(())
    };
    let wrong = |(plan, claim): (&Plan, &PlannedClaim)| {
        let place = view.project.place(&view.project.claim(&plan.chapter, &claim.id));
        Some(format!("{place}: {:#}", check(plan, claim).err()?))
    };
    view.plans.claims().filter_map(wrong).collect()
}

fn published(view: &View) -> Vec<String> {
    let stands_beside_a_cell = |figure: &Figure, text: &str| -> Result<()> {
        for (_, experiment) in view.plans.experiments() {
            for cell in experiment.full_cells()? {
                if figure.stands_beside(cell)? {
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
    Ok(match view.calculator() {
        Ok(calculator) => calculator.wrong(view).into_iter().map(|wrong| format!("{place}: {wrong}")).collect(),
        Err(error) => vec![format!("{error:#}")],
    })
}

#[cfg(test)]
mod tests;
