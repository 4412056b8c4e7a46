//! The table of an experiment that times nothing: a row per cell, a column per measure. The measures are kinds of what was
//! counted, or what the programs report by themselves.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::json;

use crate::book::cell::Cell;
use crate::book::count::Count;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::reading::{self, Part};
use crate::book::unit::Unit;
use crate::compute::doubts::Mark;
use crate::compute::ledger;
use crate::compute::quantity::{Measured, Missing};
use crate::compute::sessions::Sessions;
use crate::print::downloads;
use crate::print::escape::html;
use crate::print::format::{self, Scale};
use crate::print::frame::{
    BETWEEN_SESSIONS, Frame, Inside, LEAST, Numbers, marks_notes, pairs_notes, planned_cells, rounds_notes,
};
use crate::print::render;

/// Everything that an experiment found out without timing anything.
pub struct Measures {
    columns: Vec<Column>,
    rows: Vec<Row>,
    caption: String,
    notes: Vec<String>,
}

/// A single row of more columns than this is turned on its side.
const COLUMNS_AT_MOST: usize = 6;

/// A measure with the head of its column.
/// Whether so many measures stand below each other, if they are of one cell.
pub fn has_a_row_each<T>(measures: &[T]) -> bool {
    measures.len() > COLUMNS_AT_MOST
}

struct Column {
    name: String,
    head: String,
}

struct Row {
    cell: Cell,
    /// One per column; the first is the one that a row cannot do without.
    values: Vec<Measured>,
    /// What has to stand beside its first number.
    marks: Vec<Mark>,
}

impl Row {
    fn main(&self) -> &Measured {
        &self.values[0]
    }

    fn is_full_only(&self) -> bool {
        self.main().as_ref().is_err_and(|missing| missing.word == "full only")
    }
}

impl Measures {
    /// What an experiment's programs reported or a tool counted.
    pub fn of(experiment: &Experiment, record: &Sessions) -> Result<Self> {
        match experiment.count {
            Some(count) => Self::counted(experiment, count, record),
            None => Self::reported(experiment, record),
        }
    }

    /// Every kind that is worth a column, the most frequent first.
    fn counted(experiment: &Experiment, count: Count, record: &Sessions) -> Result<Self> {
        let seen = record.runs.iter().filter_map(|run| run.observation.as_ref()).flat_map(|seen| seen.measures.keys());
        let seen: BTreeSet<&str> = seen.filter_map(|measure| measure.strip_prefix(count.of_a_kind())).collect();
        let cells = planned_cells(experiment)?;
        let mut kinds = Vec::new();
        for kind in seen {
            let column = column_of(record, &cells, &format!("{}{kind}", count.of_a_kind()))?;
            let most = column.iter().flatten().map(|quantity| quantity.estimate.median.abs()).fold(0.0, f64::max);
            if most >= LEAST {
                kinds.push((most, kind.to_owned(), column));
            }
        }
        kinds.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let all = ("all".to_owned(), column_of(record, &cells, count.all())?);
        let columns = [all].into_iter().chain(kinds.into_iter().map(|(_, kind, column)| (kind, column)));
        // A system call goes by its own name.
        let head = |name: &str| if count == Count::Instructions { words(name) } else { name.to_owned() };
        let (columns, rows) = turn(record, cells, columns.collect(), head);
        let [fewer, more] = experiment.laps_of(count);
        let (what, tool) = count.words();
        let per = &experiment.per;
        Ok(Self {
            columns,
            rows,
            caption: format!(
                "{what} per {per}, counted by {tool} and not timed: as the difference of two runs, of {fewer} and of {more} laps. Median {BETWEEN_SESSIONS}"
            ),
            notes: vec![format!(
                "A kind of which no cell has {LEAST} per {per} has no column; the column of all has it too."
            )],
        })
    }

    /// A column for every measure that the plan names. Of the first, if it is a ledger, also where its line starts and how far
    /// its points lie from it.
    fn reported(experiment: &Experiment, record: &Sessions) -> Result<Self> {
        let cells = planned_cells(experiment)?;
        let main = experiment.main_measure();
        let mut observations = record.runs.iter().filter_map(|run| run.observation.as_ref());
        let is_ledger = observations.any(|seen| ledger::is_ledger(seen, main));
        let line = [reading::asking(main, Part::AtNone), reading::asking(main, Part::Residual)];
        let line = line.into_iter().filter(|_| is_ledger);
        let mut columns = Vec::new();
        for name in experiment.measures.iter().cloned().chain(line) {
            let column = column_of(record, &cells, &name)?;
            columns.push((name, column));
        }
        let (columns, rows) = turn(record, cells, columns, |name| match reading::part(name) {
            (_, Part::Slope) => words(name),
            (ledger, Part::AtNone) => format!("{}, with none held", words(ledger)),
            (ledger, Part::Residual) => format!("{}, farthest from the line, of its range", words(ledger)),
        });
        let per = &experiment.per;
        let caption = match is_ledger {
            true => format!(
                "Per {per}: the slope of a line by least squares through a ledger that was read at several counts. Median {BETWEEN_SESSIONS}"
            ),
            false => {
                format!("Median {BETWEEN_SESSIONS}")
            }
        };
        Ok(Self { columns, rows, caption, notes: pairs_notes(record, main) })
    }

    pub fn page(&self, frame: Frame) -> Result<String> {
        let (lacking, rows): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.is_full_only());
        let there = match frame.in_gaps()?.as_deref() {
            Some(Ok((record, _))) if !lacking.is_empty() => Some(Self::of(frame.experiment, record)?),
            _ => None,
        };
        let (mut numbers, mut full_only) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let other = || there.as_ref().and_then(|there| self.like(row, there));
            match Numbers::of(row.main(), || Ok(Self::cells(row)), || Ok(other().map(|own| Self::cells(&own))))? {
                Some(own) => numbers.push((&row.cell, own)),
                None => full_only.push(&row.cell),
            }
        }
        // A row without its first value says why itself.
        let missing = render::reasons(rows.iter().filter(|row| row.main().is_ok()).flat_map(|row| &row.values));
        let tables = match &rows[..] {
            [one] if numbers.len() == 1 && has_a_row_each(&self.columns) && one.main().is_ok() => {
                vec![self.of_one(one, frame)]
            }
            _ => {
                let heads: Vec<String> = self.columns.iter().map(|column| html(&column.head)).collect();
                frame.tables(&heads, &numbers, &full_only, COLUMNS_AT_MOST)
            }
        };
        frame.page(&Inside {
            caption: html(&self.caption),
            cells: numbers.iter().map(|(cell, _)| *cell).collect(),
            tables,
            full_only,
            notes: [
                rounds_notes(rows.iter().map(|row| (&row.cell, row.main()))),
                self.notes.clone(),
                marks_notes(rows.iter().map(|row| (&row.cell, &row.marks))),
                missing,
            ]
            .concat(),
            csv: self.csv(),
        })
    }

    /// A row per measure, each on a scale of its own.
    fn of_one(&self, row: &Row, frame: Frame) -> String {
        let mut rows = Vec::new();
        for (column, measured) in self.columns.iter().zip(&row.values) {
            let number = match measured {
                Err(missing) => render::in_cell(missing),
                Ok(quantity) => render::in_table(&format::quantity(quantity)),
            };
            rows.push((column.name.as_str(), html(&column.head), format!("<td>{number}</td>")));
        }
        frame.one_cell(&row.cell, [&html(&frame.experiment.per), "value"], &rows)
    }

    /// Each on a scale of its own: a column may go over many powers of ten.
    fn cells(row: &Row) -> Vec<String> {
        let number = |(nth, measured): (usize, &Measured)| match measured {
            Ok(quantity) => {
                // What has to stand beside the first number.
                let marks = if nth == 0 { render::marks_in_table(&row.marks) } else { String::new() };
                format!("<td>{}{marks}</td>", render::in_table(&format::quantity(quantity)))
            }
            Err(missing) => format!("<td>{}</td>", render::in_cell(missing)),
        };
        row.values.iter().enumerate().map(number).collect()
    }

    /// Another machine's row of the same cell, in these columns.
    fn like(&self, row: &Row, there: &Self) -> Option<Row> {
        let other = there.rows.iter().find(|own| own.cell == row.cell && own.main().is_ok())?;
        let value = |column: &Column| {
            let at = there.columns.iter().position(|own| own.name == column.name);
            let none = || Err(Missing::new("unavailable", format!("it has no {}", column.head)));
            at.map_or_else(none, |at| other.values[at].clone())
        };
        Some(Row {
            values: self.columns.iter().map(value).collect(),
            marks: other.marks.clone(),
            cell: row.cell.clone(),
        })
    }

    /// For a terminal.
    pub fn text(&self, frame: Frame) -> String {
        let names = self.rows.iter().map(|row| row.cell.to_string());
        let width = names.map(|name| name.len()).max().unwrap_or(0);
        let what = format!("{} per {}", frame.experiment.main_measure(), frame.experiment.per);
        let mut out = format!("{what:width$}");
        for column in &self.columns {
            out += &format!("  {:>10}", column.name);
        }
        out += "\n";
        for row in &self.rows {
            out += &format!("{:width$}", row.cell.to_string());
            if let Err(missing) = row.main() {
                out += &format!("  ({missing})\n");
                continue;
            }
            for (column, measured) in self.columns.iter().zip(&row.values) {
                let shown = measured
                    .as_ref()
                    .map_or_else(|missing| missing.word.to_owned(), |quantity| format::quantity(quantity).value);
                out += &format!("  {shown:>width$}", width = column.name.len().max(10));
            }
            out += &render::marks_in_words(&row.marks);
            out += "\n";
        }
        out
    }

    /// For a script.
    pub fn json(&self, frame: Frame) -> serde_json::Value {
        let row = |row: &Row| {
            let slug = frame.view.machine.slug();
            let mut object = render::json(&row.cell.to_string(), row.main(), slug, frame.freshness.word());
            render::add_marks(&mut object, &row.marks);
            if row.main().is_ok() {
                let others = self.columns.iter().zip(&row.values).skip(1);
                let medians = others.map(|(column, measured)| (column.name.clone(), json!(median(measured))));
                object["others"] = medians.collect::<serde_json::Map<_, _>>().into();
            }
            object
        };
        self.rows.iter().map(row).collect()
    }

    fn csv(&self) -> String {
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        downloads::csv(names, self.rows.iter().map(|row| (&row.cell, row.values.iter().map(Some).collect())))
    }
}

/// A measure's name as a head says it: its unit stands apart.
fn words(measure: &str) -> String {
    let name = measure.strip_suffix("_bytes").or_else(|| measure.strip_suffix("_ns")).unwrap_or(measure);
    name.replace('_', " ")
}

fn column_of(record: &Sessions, cells: &[Cell], measure: &str) -> Result<Vec<Measured>> {
    cells.iter().map(|cell| record.evaluate(&Expression::parse(&format!("{cell}.{measure}"))?)).collect()
}

/// Columns of measures as rows of cells.
fn turn(
    record: &Sessions,
    cells: Vec<Cell>,
    columns: Vec<(String, Vec<Measured>)>,
    head: impl Fn(&str) -> String,
) -> (Vec<Column>, Vec<Row>) {
    let main = columns.first().map(|(name, _)| name.clone()).unwrap_or_default();
    let marks = |cell: &Cell| {
        Expression::parse(&format!("{cell}.{main}")).map_or(Vec::new(), |expression| record.marks(&expression))
    };
    let row = |(index, cell): (usize, Cell)| Row {
        marks: marks(&cell),
        cell,
        values: columns.iter().map(|(_, column)| column[index].clone()).collect(),
    };
    let rows = cells.into_iter().enumerate().map(row).collect();
    let column = |(name, _): &(String, Vec<Measured>)| Column { name: name.clone(), head: head(name) };
    (columns.iter().map(column).collect(), rows)
}

/// One scale for a whole column: that of its largest number.
pub fn scale_of<'a>(column: impl Iterator<Item = &'a Measured>) -> Scale {
    let quantities = column.filter_map(|measured| measured.as_ref().ok());
    let largest = quantities.max_by(|a, b| a.estimate.median.abs().total_cmp(&b.estimate.median.abs()));
    largest.map_or(Scale::of(Unit::Count, 0.0), |quantity| Scale::of(quantity.unit, quantity.estimate.median))
}

fn median(measured: &Measured) -> Option<f64> {
    measured.as_ref().ok().map(|quantity| quantity.estimate.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_leave_the_unit_to_the_numbers() {
        assert_eq!(words("page_table_bytes"), "page table");
        assert_eq!(words("reached"), "reached");
    }
}
