//! What an experiment measured, cell by cell: a row has a cell's time, what remains beyond its baseline, and its counters.

use anyhow::Result;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::measure::COUNTERS;
use crate::compute::doubts::Mark;
use crate::compute::quantity::Measured;
use crate::compute::sessions::Sessions;
use crate::print::frame::planned_cells;

/// A cell with everything that its row says.
pub struct Row {
    pub cell: Cell,
    /// Its time per operation, or what its experiment measures instead.
    pub main: Measured,
    /// The same beyond its baseline's, where the plan has one.
    pub beyond: Option<Measured>,
    /// What stands beside the time: counters, or quantiles of single laps.
    pub counters: Vec<Measured>,
    /// What has to stand beside its main number.
    pub marks: Vec<Mark>,
}

/// A measure and the head of its column.
pub type Column = (&'static str, &'static str);

/// The columns of a table of single laps.
const QUANTILES: &[Column] = &[
    ("quantile_0.5", "half of the laps within"),
    ("quantile_0.9", "90 % within"),
    ("quantile_0.99", "99 % within"),
    ("quantile_0.999", "99.9 % within"),
    ("voluntary_switches", "voluntary switches"),
];

/// The measures beside the time of an experiment.
pub fn beside_the_time(experiment: &Experiment) -> Vec<Column> {
    match experiment.is_timed() {
        false => Vec::new(),
        true if experiment.histogram_laps.is_some() => QUANTILES.to_vec(),
        true => COUNTERS.map(|counter| (counter.name, counter.head)).to_vec(),
    }
}

impl Row {
    /// Every cell of a record, and those that only a full run would have measured.
    pub fn all(experiment: &Experiment, record: &Sessions) -> Result<Vec<Self>> {
        planned_cells(experiment)?.iter().map(|cell| Self::of(experiment, record, cell)).collect()
    }

    /// All its numbers, in the order of their columns.
    pub fn numbers(&self) -> Vec<Option<&Measured>> {
        [Some(&self.main), self.beyond.as_ref()].into_iter().chain(self.counters.iter().map(Some)).collect()
    }

    /// Whether only a full run would have measured it.
    pub fn is_full_only(&self) -> bool {
        self.main.as_ref().is_err_and(|missing| missing.word == "full only")
    }

    fn of(experiment: &Experiment, record: &Sessions, cell: &Cell) -> Result<Self> {
        let evaluate = |text: &str| record.evaluate(&Expression::parse(text)?);
        let measure = experiment.main_measure();
        let baseline = experiment.group(&cell.program).and_then(|group| group.baseline.as_ref());
        // A baseline that is not run under the cell's condition stands for it without any.
        let of_baseline = |program: &String| -> Result<Option<Cell>> {
            let shared = Cell { program: program.clone(), ..cell.clone() };
            let known: Vec<Cell> = experiment.full_cells()?;
            // The baseline has only the parameters that it understands.
            let same = |condition: &Option<String>| {
                known.iter().find(|other| {
                    let agrees = |(name, value)| shared.parameters.get(name) == Some(value);
                    other.program == *program
                        && other.placement == cell.placement
                        && other.condition == *condition
                        && other.parameters.iter().all(agrees)
                })
            };
            Ok(same(&cell.condition).or_else(|| same(&None)).cloned())
        };
        let beyond = match baseline.map(of_baseline).transpose()?.flatten() {
            Some(other) => Some(evaluate(&format!("{cell}.{measure} - {other}.{measure}"))?),
            None => None,
        };
        Ok(Self {
            main: evaluate(&format!("{cell}.{measure}"))?,
            beyond,
            counters: beside_the_time(experiment)
                .iter()
                .map(|(name, _)| evaluate(&format!("{cell}.{name}")))
                .collect::<Result<_>>()?,
            marks: record.marks(&Expression::parse(&format!("{cell}.{measure}"))?),
            cell: cell.clone(),
        })
    }
}
