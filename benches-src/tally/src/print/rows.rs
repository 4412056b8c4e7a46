//! What an experiment measured, cell by cell: a row has a cell's main number, what remains of it
//! beyond its baseline, and others.

use anyhow::Result;

use crate::book::cell::{Cell, plain};
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::measure::COUNTERS;
use crate::book::unit::Unit;
use crate::compute::doubts::Mark;
use crate::compute::quantity::{Measured, Quantity};
use crate::compute::sessions::Sessions;
use crate::print::format::Scale;
use crate::print::table;

/// A cell with everything that its row says.
#[derive(Clone)]
pub struct Row {
    pub cell: Cell,
    /// Its time per operation, or what its experiment measures instead.
    pub main: Measured,
    /// The same beyond its baseline's, where the plan has one.
    pub beyond: Option<Measured>,
    /// What stands beside it: counters, quantiles of single laps, or further measures.
    pub others: Vec<Measured>,
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
        let beside: Vec<&str> = beside_the_time(experiment).into_iter().map(|(name, _)| name).collect();
        let known = experiment.full_cells()?;
        let mut rows = Self::with(record, &experiment.planned_cells()?, experiment.main_measure(), &beside)?;
        for row in &mut rows {
            let baseline = experiment.group(&row.cell.program).and_then(|group| group.baseline.as_ref());
            if let Some(other) = baseline.and_then(|program| baseline_of(&row.cell, program, known)) {
                let measure = experiment.main_measure();
                let beyond = format!("{}.{measure} - {other}.{measure}", row.cell);
                row.beyond = Some(record.evaluate(&Expression::parse(&beyond)?)?);
            }
        }
        Ok(rows)
    }

    /// Rows of these cells with a main number and others, and without a baseline.
    pub fn with(record: &Sessions, cells: &[Cell], main: &str, others: &[impl AsRef<str>]) -> Result<Vec<Self>> {
        let row = |cell: &Cell| {
            Ok(Self {
                cell: cell.clone(),
                main: measured(record, cell, main)?,
                beyond: None,
                others: others.iter().map(|name| measured(record, cell, name.as_ref())).collect::<Result<_>>()?,
                marks: record.marks(&Expression::parse(&format!("{cell}.{main}"))?),
            })
        };
        cells.iter().map(row).collect()
    }

    /// Its main number, and the others in their order.
    pub fn values(&self) -> impl Iterator<Item = &Measured> {
        [&self.main].into_iter().chain(&self.others)
    }

    /// Whether only a full run would have measured it.
    pub fn is_full_only(&self) -> bool {
        self.main.as_ref().is_err_and(|missing| missing.word == "full only")
    }
}

/// What a record has of a cell.
pub fn measured(record: &Sessions, cell: &Cell, measure: &str) -> Result<Measured> {
    record.evaluate(&Expression::parse(&format!("{cell}.{measure}"))?)
}

/// The cell of this baseline beside which another stands. One that is not run under the cell's
/// condition stands for it without any; and it has only the parameters that it understands.
fn baseline_of<'a>(cell: &Cell, program: &str, known: &'a [Cell]) -> Option<&'a Cell> {
    let same = |condition: &Option<String>| {
        known.iter().find(|other| {
            let agrees = |(name, value)| cell.parameters.get(name) == Some(value);
            other.program == program
                && other.placement == cell.placement
                && other.condition == *condition
                && other.parameters.iter().all(agrees)
        })
    };
    same(&cell.condition).or_else(|| same(&None))
}

/// One scale for all these numbers: that of the largest.
pub fn scale_of<'a>(column: impl Iterator<Item = &'a Measured>) -> Scale {
    let quantities = column.filter_map(|measured| measured.as_ref().ok());
    let largest = quantities.max_by(|a, b| a.estimate.median.abs().total_cmp(&b.estimate.median.abs()));
    largest.map_or(Scale::of(Unit::Count, 0.0), |quantity| Scale::of(quantity.unit, quantity.estimate.median))
}

/// Everything that rows with a baseline have, for download.
pub fn csv(experiment: &Experiment, rows: &[Row]) -> String {
    let unit = rows.iter().find_map(|row| row.main.as_ref().ok()).map_or(Unit::Nanoseconds, |quantity| quantity.unit);
    let names = ["median", "beyond_baseline"].map(|name| format!("{name}{}", unit.suffix()));
    let others = beside_the_time(experiment).into_iter().map(|(name, _)| name.to_owned());
    let rows = rows.iter().map(|row| {
        let times = [Some(&row.main), row.beyond.as_ref()];
        (&row.cell, times.into_iter().chain(row.others.iter().map(Some)).collect())
    });
    csv_of(names.into_iter().chain(others), rows)
}

/// One row per cell: of each number, its median over sessions and the ends of the interval that
/// holds between them; then the same over the rounds of the session that is shown. Unrounded: in
/// bytes where its name says so, times in nanoseconds, else counts or shares. The first is the one
/// that the cell was measured for.
pub fn csv_of<'a>(
    names: impl Iterator<Item = String>,
    rows: impl Iterator<Item = (&'a Cell, Vec<Option<&'a Measured>>)>,
) -> String {
    let heads = ["cell", "program", "placement", "condition", "parameters", "rounds", "sessions"].map(str::to_owned);
    let ends = ["", "_low", "_high", "_session", "_session_low", "_session_high"];
    let of_numbers = names.flat_map(|name| ends.map(|end| format!("{name}{end}")));
    let heads = heads.into_iter().chain(of_numbers).chain(["missing".to_owned()]).collect::<Vec<_>>();
    let line = |(cell, numbers): (&Cell, Vec<Option<&Measured>>)| {
        let main = numbers.first().copied().flatten();
        let parameters = cell.parameters.iter().map(|(name, value)| format!("{name}={}", plain(value)));
        let first = [
            cell.to_string(),
            cell.program.clone(),
            cell.placement.clone(),
            cell.condition.clone().unwrap_or_default(),
            parameters.collect::<Vec<_>>().join(" "),
            known(main).map_or(String::new(), |own| own.estimate.rounds.to_string()),
            known(main).map_or(String::new(), |own| own.sessions.to_string()),
        ];
        let missing = main.and_then(|main| main.as_ref().err()).map_or(String::new(), ToString::to_string);
        let both = |number| {
            let own = known(number);
            [table::csv_numbers(own.map(|own| own.estimate)), table::csv_numbers(own.map(|own| own.session))]
                .into_iter()
                .flatten()
        };
        first.into_iter().chain(numbers.into_iter().flat_map(both)).chain([missing]).collect()
    };
    table::csv([heads].into_iter().chain(rows.map(line)))
}

fn known(measured: Option<&Measured>) -> Option<&Quantity> {
    measured?.as_ref().ok()
}
