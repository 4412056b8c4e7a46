//! `tally table`: everything an experiment measured, cell by cell.

use anyhow::Result;
use clap::Args;

use crate::book::experiment::Experiment;
use crate::compute::quantity::Missing;
use crate::print::frame::Frame;
use crate::print::render::{self, Form};
use crate::print::results::Results;
use crate::print::view::View;

/// Everything that an experiment measured
#[derive(Args)]
pub struct Table {
    /// The experiment
    pub experiment: String,
}

impl Table {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let (plan, experiment) = view.plans.experiment(&self.experiment)?;
        let kept = view.kept(plan, experiment)?;
        match kept.as_ref() {
            Err(missing) => match view.instead_on(form, missing, plan, experiment) {
                Some(there) => Ok(render::instead_of_block(&self.print(&there, form)?, missing)),
                None => Ok(without_record(missing, experiment, form)),
            },
            Ok((record, freshness)) => {
                let frame = Frame { view, plan, experiment, record, freshness };
                let results = Results::of(experiment, record)?;
                match form {
                    Form::Page => results.page(frame),
                    Form::Text => Ok(results.text(experiment)),
                    Form::Json => Ok(results.json(frame).to_string() + "\n"),
                }
            }
        }
    }
}

fn without_record(missing: &Missing, experiment: &Experiment, form: Form) -> String {
    let shown = render::missing(missing, form);
    match form {
        // The anchor is there though the table is not, so that no link to it is dead.
        Form::Page => format!("<div id=\"{}\">\n{shown}</div>\n", experiment.name),
        Form::Text | Form::Json => shown,
    }
}
