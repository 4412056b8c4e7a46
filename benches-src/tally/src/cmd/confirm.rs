//! `tally confirm`: whether tools that this project did not write measure the same.
//!
//! The tools are programs of their chapter, and run in the rounds of an experiment of its whose
//! name begins with `confirm`; what was expected of them are claims about that experiment. A page
//! shows those of its own chapter. At a terminal, what is stale is measured first. For a page
//! nothing is: printing never measures.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::book::claim::Claim as PlannedClaim;
use crate::book::plan::{Plan, Plans};
use crate::cmd::claim::Claim;
use crate::cmd::measure::Measure;
use crate::print::render::Form;
use crate::print::view::View;
use crate::project::Project;
use crate::record::Effort;

/// How experiments begin that tools take part in. They are full only: the tools are not
/// everybody's.
const EXPERIMENT: &str = "confirm";

/// Whether a claim says what tools are expected to measure.
pub fn is_of_tools(claim: &PlannedClaim) -> bool {
    claim.experiment.starts_with(EXPERIMENT)
}

/// Whether tools that this project did not write agree; at a terminal, measured first
#[derive(Args)]
pub struct Confirm {
    /// Take the programs from this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
}

impl Confirm {
    /// Measures what is stale, unless it is a page that asks.
    pub fn measure(&self, project: &Project, form: Form) -> Result<()> {
        if form == Form::Page {
            return Ok(());
        }
        for (_, experiment) in Plans::load(project)?.experiments() {
            if experiment.name.starts_with(EXPERIMENT) {
                Measure::one(&experiment.name, Effort::Full, self.programs.clone())
                    .run(project, Form::Text)?
                    .is_a_warning();
            }
        }
        Ok(())
    }

    /// Prints each ratio beside the one that was expected.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let shown = |plan: &&Plan| view.page.is_none() || view.is_in_chapter(&plan.chapter);
        let claims = view.plans.all.iter().filter(shown).flat_map(|plan| &plan.claims);
        let claims: Vec<_> = claims.filter(|claim| is_of_tools(claim)).collect();
        ensure!(!claims.is_empty(), "no plan has a claim about an experiment {EXPERIMENT}");
        claims
            .into_iter()
            .map(|claim| Claim { id: Some(claim.id.clone()), ..Claim::default() }.print(view, form))
            .collect()
    }
}
