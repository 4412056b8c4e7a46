//! `tally value`: one number.

use anyhow::{Result, bail};
use clap::Args;

use crate::book::cell::PLACEMENTS;
use crate::book::expression::{Expression, Operator};
use crate::book::plan::Plans;
use crate::book::quantities::Asked;
use crate::print::comparison::alone;
use crate::print::render::{self, Form};
use crate::print::view::View;

/// One number with its unit and interval
#[derive(Args)]
pub struct Value {
    /// A quantity's name, a program, or arithmetic on cells such as "thread-socket[free] /
    /// task-socket[free]"
    #[arg(value_name = "EXPRESSION")]
    what: String,
    /// What to divide it by
    #[arg(long, value_name = "EXPRESSION")]
    over: Option<String>,
    /// The placement of all cells that name none
    #[arg(long)]
    placement: Option<String>,
    /// The experiment that measures it; needed where several do
    #[arg(long)]
    experiment: Option<String>,
}

impl Value {
    /// The expression that is meant, in which names may stand.
    fn expression(&self) -> Result<Expression> {
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

    pub fn asked<'a>(&self, plans: &'a Plans) -> Result<Asked<'a>> {
        plans.ask(self.expression()?, self.experiment.as_deref())
    }

    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let asked = self.asked(&view.plans)?;
        let measured = view.evaluate(&asked)?;
        Ok(match form {
            Form::Text => render::in_words(view, &asked, &measured)? + "\n",
            Form::Page => alone(view, &asked, &measured)? + "\n",
            Form::Json => {
                let kept = view.kept(asked.plan, asked.experiment)?;
                let state = render::state_word(&kept);
                let mut value = render::json(&asked.expression.to_string(), &measured, view.machine.slug(), state);
                render::add_marks(&mut value, &view.marks(&asked)?);
                value.to_string() + "\n"
            }
        })
    }
}
