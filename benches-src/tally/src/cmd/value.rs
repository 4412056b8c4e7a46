//! `tally value`: one number.

use anyhow::{Result, bail};
use clap::Args;

use crate::cell::PLACEMENTS;
use crate::expression::{Expression, Operator};
use crate::render::{self, Form};
use crate::view::View;

/// One number with its unit and interval
#[derive(Args)]
pub struct Value {
    /// A program, or arithmetic on cells such as "thread-socket[free] / task-socket[free]"
    #[arg(value_name = "EXPRESSION")]
    what: String,
    /// What to divide it by
    #[arg(long, value_name = "EXPRESSION")]
    over: Option<String>,
    /// The placement of all cells that name none
    #[arg(long)]
    placement: Option<String>,
    /// Look only in this experiment
    #[arg(long)]
    experiment: Option<String>,
}

impl Value {
    /// The expression that is meant.
    pub fn expression(&self) -> Result<Expression> {
        let mut expression = Expression::parse(&self.what)?;
        if let Some(over) = &self.over {
            expression = Expression::binary(expression, Operator::Over, Expression::parse(over)?);
        }
        if let Some(placement) = &self.placement {
            if !PLACEMENTS.contains(&placement.as_str()) {
                bail!("unknown placement {placement:?}; there are: {}", PLACEMENTS.join(", "));
            }
            expression = expression.with_placement(placement);
        }
        Ok(expression)
    }

    /// Prints it.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let expression = self.expression()?;
        let (plan, experiment) = match &self.experiment {
            Some(name) => {
                let (plan, experiment) = view.plans.experiment(name)?;
                experiment.answers(&expression)?;
                (plan, experiment)
            }
            None => view.plans.experiment_for(&expression)?,
        };
        let measured = view.evaluate(plan, experiment, &expression)?;
        Ok(match form {
            Form::Text => format!("{}\n", render::plain(&measured)),
            Form::Page => {
                let context = render::context(view, plan, experiment)?;
                render::inline(&measured, &expression, &render::anchor(plan, experiment), &context) + "\n"
            }
            Form::Json => {
                let kept = view.kept(plan, experiment)?;
                let state = render::state_word(&kept);
                let id = expression.to_string();
                render::json(&id, &measured, view.machine.slug(), state).to_string() + "\n"
            }
        })
    }
}
