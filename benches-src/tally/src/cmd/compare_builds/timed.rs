//! Builds that are timed side by side, where counting cannot tell them apart.

use anyhow::{Result, ensure};

use super::then;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::project::Project;
use crate::record::Record;
use crate::say;

/// What is still as long.
const ALIKE: f64 = 0.02;
/// An interval that says so must be narrower than this, either way.
const PRECISE: f64 = 0.05;

/// What was measured of each cell, if the numbers are the same.
pub fn timed(plan: &Plan, experiment: &Experiment, record: &Record, before: &Project) -> Result<Option<Vec<String>>> {
    let (mut said, mut ratios) = (Vec::new(), Vec::new());
    for cell in record.header.cells.iter().filter(|cell| !cell.is_before()) {
        let measure = experiment.main_measure();
        let expression =
            Expression::parse(&format!("{cell}.{measure} / {}.{measure}", then(experiment, cell, before)))?;
        let name = format!("{}/{}: {cell}", plan.chapter, experiment.name);
        ensure!(record.lost_of(cell).is_none(), "{name} failed; mend the program and compare again");
        let Ok(quantity) = record.evaluate(&expression)? else { continue };
        let ratio = quantity.estimate.median;
        let (low, high) = quantity.estimate.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        said.push(format!(
            "{cell}: {ratio:.3} [{low:.3}, {high:.3}] of the time before, {} rounds",
            quantity.estimate.rounds
        ));
        ratios.push([ratio, low, high]);
    }
    let is_alike = is_alike(&ratios);
    if !is_alike {
        said.iter().for_each(|cell| say!("tally: {cell}"));
    }
    Ok(is_alike.then_some(said))
}

/// Whether no ratio, each with the ends of its interval, is known to differ from one by more than
/// two parts in a hundred, and one at least is known to within five.
fn is_alike(ratios: &[[f64; 3]]) -> bool {
    let reaches = |[_, low, high]: &[f64; 3]| *low <= 1.0 + ALIKE && *high >= 1.0 - ALIKE;
    let is_precise =
        |[ratio, low, high]: &[f64; 3]| *low >= ratio * (1.0 - PRECISE) && *high <= ratio * (1.0 + PRECISE);
    ratios.iter().all(reaches) && ratios.iter().any(is_precise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_to_differ_or_known_too_little_is_not_alike() {
        assert!(is_alike(&[[1.0, 0.99, 1.01]]));
        assert!(is_alike(&[[1.03, 1.01, 1.05]]), "it may be two parts in a hundred");
        assert!(!is_alike(&[[1.04, 1.03, 1.05]]));
        assert!(!is_alike(&[[0.9, 0.88, 0.97]]));
        assert!(!is_alike(&[[1.0, 0.8, 1.2]]), "it may be anything");
        assert!(is_alike(&[[1.0, 0.8, 1.2], [1.0, 0.99, 1.01]]));
        assert!(!is_alike(&[[1.0, 0.99, 1.01], [1.05, 1.03, 1.07]]), "the second differs");
        assert!(!is_alike(&[]));
    }
}
