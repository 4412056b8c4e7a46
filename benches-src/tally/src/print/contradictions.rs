//! A cell that stands in two tables of a machine has two numbers. Where their intervals do not
//! meet, each table names the other.

use anyhow::Result;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::quantities::Asked;
use crate::compute::quantity::Quantity;
use crate::print::format;
use crate::print::frame::Frame;

/// A sentence for each of these cells whose number another experiment of the chapter contradicts.
pub fn notes<'a>(frame: &Frame, cells: impl Iterator<Item = &'a Cell>) -> Result<Vec<String>> {
    let is_like = |other: &&Experiment| {
        other.name != frame.experiment.name
            && other.per == frame.experiment.per
            && other.main_measure() == frame.experiment.main_measure()
    };
    let others: Vec<(&Experiment, &[Cell])> =
        frame.plan.experiments.iter().filter(is_like).map(with_cells).collect::<Result<_>>()?;
    let mut notes = Vec::new();
    for cell in cells {
        for (other, _) in others.iter().filter(|(_, known)| known.contains(cell)) {
            let both = number(frame, frame.experiment, cell)?.zip(number(frame, other, cell)?);
            let Some((here, there)) = both.filter(|(here, there)| are_apart(here, there)) else { continue };
            let [here, there] = [&here, &there].map(|own| {
                let shown = format::quantity(own);
                format!("{} [{}]", shown.value, shown.interval_or_none())
            });
            notes.push(format!(
                "Doubt: {cell} came to {here} here and to {there} in {}, {:?}: the intervals do not meet.",
                other.name, other.question
            ));
        }
    }
    Ok(notes)
}

fn with_cells(experiment: &Experiment) -> Result<(&Experiment, &[Cell])> {
    Ok((experiment, experiment.full_cells()?))
}

/// What a cell comes to in an experiment, on the machine that is shown.
fn number(frame: &Frame, experiment: &Experiment, cell: &Cell) -> Result<Option<Quantity>> {
    let expression = Expression::parse(&format!("{cell}.{}", experiment.main_measure()))?;
    let asked = Asked { plan: frame.plan, experiment, expression };
    Ok(frame.view.evaluate(&asked)?.ok())
}

/// Whether the intervals of two numbers have nothing in common.
fn are_apart(a: &Quantity, b: &Quantity) -> bool {
    let ends = a.judged().zip(b.judged());
    ends.is_some_and(|((a_low, a_high), (b_low, b_high))| a_high < b_low || b_high < a_low)
}
