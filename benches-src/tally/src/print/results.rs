//! Everything that an experiment found out: a row per cell, with its main number, what remains of
//! it beyond its baseline, and whatever else was measured, counted or reported.

mod shown;

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::json;

use shown::Shown;

use crate::book::count::Count;
use crate::book::experiment::Experiment;
use crate::book::reading::{self, Part};
use crate::compute::ledger;
use crate::compute::quantity::{Measured, Missing};
use crate::compute::sessions::Sessions;
use crate::print::escape::html;
use crate::print::format;
use crate::print::frame::{BETWEEN_SESSIONS, Frame, Inside, LEAST, Numbers, marks_notes, pairs_notes, rounds_notes};
use crate::print::render;
use crate::print::rows::{self, Row, beside_the_time};
use crate::print::table;

/// The rows of an experiment with what is said about them.
pub struct Results {
    /// The measure of the main number, and the head of its column.
    main: Column,
    /// The measures of all others of a row.
    others: Vec<Column>,
    rows: Vec<Row>,
    caption: String,
    notes: Vec<String>,
}

/// A measure with the head of its column.
struct Column {
    name: String,
    head: String,
}

impl Column {
    fn new(name: &str, head: impl Into<String>) -> Self {
        Self { name: name.to_owned(), head: head.into() }
    }
}

/// A single row of more columns than this is turned on its side.
const COLUMNS_AT_MOST: usize = 6;

/// Whether so many measures stand below each other, if they are of one cell.
pub fn have_a_row_each(measures: usize) -> bool {
    measures > COLUMNS_AT_MOST
}

impl Results {
    /// What its programs did in which time or reported, or what a tool counted.
    pub fn of(experiment: &Experiment, record: &Sessions) -> Result<Self> {
        match experiment.count {
            Some(count) => Self::counted(experiment, count, record),
            None if experiment.is_timed() => Self::timed(experiment, record),
            None => Self::reported(experiment, record),
        }
    }

    /// A column for the time, and one for everything that is counted beside it.
    fn timed(experiment: &Experiment, record: &Sessions) -> Result<Self> {
        let per = &experiment.per;
        let others = beside_the_time(experiment).into_iter().map(|(name, head)| Column::new(name, head));
        Ok(Self {
            main: Column::new("elapsed", format!("one {per}")),
            others: others.collect(),
            rows: Row::all(experiment, record)?,
            caption: format!("Median per {per} {BETWEEN_SESSIONS}"),
            notes: pairs_notes(record, "elapsed"),
        })
    }

    /// Every kind that is worth a column, the most frequent first.
    fn counted(experiment: &Experiment, count: Count, record: &Sessions) -> Result<Self> {
        let seen = record.runs.iter().filter_map(|run| run.observation.as_ref()).flat_map(|seen| seen.measures.keys());
        let seen: BTreeSet<&str> = seen.filter_map(|measure| measure.strip_prefix(count.of_a_kind())).collect();
        let cells = experiment.planned_cells()?;
        let mut kinds = Vec::new();
        for kind in seen {
            let measure = format!("{}{kind}", count.of_a_kind());
            let mut most: f64 = 0.0;
            for cell in &cells {
                let measured = rows::measured(record, cell, &measure)?;
                most = measured.map_or(most, |quantity| most.max(quantity.estimate.median.abs()));
            }
            if most >= LEAST {
                // A system call goes by its own name.
                let head = if count == Count::Instructions { words(kind) } else { kind.to_owned() };
                kinds.push((most, measure, Column::new(kind, head)));
            }
        }
        kinds.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let (measures, others): (Vec<String>, Vec<Column>) =
            kinds.into_iter().map(|(_, measure, column)| (measure, column)).unzip();
        let [fewer, more] = experiment.laps_of(count);
        let (what, tool) = count.words();
        let per = &experiment.per;
        Ok(Self {
            main: Column::new("all", "all"),
            others,
            rows: Row::with(record, &cells, count.all(), &measures)?,
            caption: format!(
                "{what} per {per}, counted by {tool} and not timed: as the difference of two runs, of {fewer} and of \
                 {more} laps. Median {BETWEEN_SESSIONS}"
            ),
            notes: vec![format!(
                "A kind of which no cell has {LEAST} per {per} has no column; the column of all has it too."
            )],
        })
    }

    /// A column for every measure that the plan names. Of the first, if it is a ledger, also where
    /// its line starts and how far its points lie from it.
    fn reported(experiment: &Experiment, record: &Sessions) -> Result<Self> {
        let main = experiment.main_measure();
        let mut observations = record.runs.iter().filter_map(|run| run.observation.as_ref());
        let is_ledger = observations.any(|seen| ledger::is_ledger(seen, main));
        let line = [reading::asking(main, Part::AtNone), reading::asking(main, Part::Residual)];
        let line = line.into_iter().filter(|_| is_ledger);
        let others: Vec<String> = experiment.measures.iter().skip(1).cloned().chain(line).collect();
        let head = |name: &str| match reading::part(name) {
            (_, Part::Slope) => words(name),
            (ledger, Part::AtNone) => format!("{}, with none held", words(ledger)),
            (ledger, Part::Residual) => format!("{}, farthest from the line, of its range", words(ledger)),
        };
        let per = &experiment.per;
        let of_a_line = format!(
            "Per {per}: the slope of a line by least squares through a ledger that was read at several counts. "
        );
        Ok(Self {
            main: Column::new(main, head(main)),
            rows: Row::with(record, &experiment.planned_cells()?, main, &others)?,
            others: others.iter().map(|name| Column::new(name, head(name))).collect(),
            caption: format!("{}Median {BETWEEN_SESSIONS}", if is_ledger { &of_a_line } else { "" }),
            notes: pairs_notes(record, main),
        })
    }

    /// For a page.
    pub fn page(&self, frame: Frame) -> Result<String> {
        let (lacking, measured): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.is_full_only());
        let there = match frame.in_gaps()?.as_deref() {
            Some(Ok((record, _))) if !lacking.is_empty() => Some(Self::of(frame.experiment, record)?),
            _ => None,
        };
        let shown = Shown::of(self, frame, &measured)?;
        let (mut numbers, mut full_only) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let there = there.as_ref().filter(|_| row.is_full_only()).and_then(|there| self.like(row, there));
            match (&row.main, there) {
                (Ok(_), _) => numbers.push((&row.cell, Numbers::Here(shown.cells(frame, row)?))),
                (Err(missing), Some(own)) => {
                    numbers.push((&row.cell, Numbers::There(shown.cells(frame, &own)?, missing)));
                }
                (Err(_), None) if row.is_full_only() => full_only.push(&row.cell),
                (Err(missing), None) => numbers.push((&row.cell, Numbers::Missing(missing))),
            }
        }
        let cells = numbers.iter().map(|(cell, _)| *cell).collect();
        let tables = match measured[..] {
            [one]
                if numbers.len() == 1
                    && !shown.is_timed
                    && have_a_row_each(self.columns().count())
                    && one.main.is_ok() =>
            {
                vec![self.of_one(one, frame)]
            }
            _ => frame.tables(&shown.heads(), numbers, &full_only, shown.first()),
        };
        frame.page(Inside {
            caption: html(&self.caption),
            cells,
            tables,
            full_only,
            notes: [
                rounds_notes(measured.iter().map(|row| (&row.cell, &row.main))),
                self.notes.clone(),
                marks_notes(measured.iter().map(|row| (&row.cell, &row.marks))),
                shown.reasons(&measured),
            ]
            .concat(),
            csv: self.csv(frame.experiment),
        })
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        [&self.main].into_iter().chain(&self.others)
    }

    /// A row per measure, each on a scale of its own.
    fn of_one(&self, row: &Row, frame: Frame) -> table::Table {
        let rows = self.columns().zip(row.values());
        let rows = rows.map(|(column, measured)| (column.name.as_str(), html(&column.head), number(measured)));
        frame.one_cell(&row.cell, [&frame.experiment.per, "value"], rows)
    }

    /// Another machine's row of the same cell, in these columns.
    fn like(&self, row: &Row, there: &Self) -> Option<Row> {
        let other = there.rows.iter().find(|own| own.cell == row.cell && own.main.is_ok())?;
        let value = |column: &Column| {
            let at = there.others.iter().position(|own| own.name == column.name);
            let none = || Err(Missing::new("unavailable", format!("it has no {}", column.head)));
            at.map_or_else(none, |at| other.others[at].clone())
        };
        Some(Row { others: self.others.iter().map(value).collect(), ..other.clone() })
    }

    /// For a terminal.
    pub fn text(&self, experiment: &Experiment) -> String {
        if experiment.is_timed() { self.times(experiment) } else { self.medians(experiment) }
    }

    /// Each time with its interval.
    fn times(&self, experiment: &Experiment) -> String {
        let width = self.width();
        let mut out = format!("{:width$}  one {}\n", "cell", experiment.per);
        for row in &self.rows {
            let marks = if row.main.is_ok() { render::marks_in_words(&row.marks) } else { String::new() };
            let beyond =
                row.beyond.as_ref().map_or(String::new(), |own| format!(", beyond I/O {}", render::plain(own)));
            out += &format!("{:width$}  {}{marks}{beyond}\n", row.cell.to_string(), render::plain(&row.main));
        }
        out
    }

    /// The medians of every column.
    fn medians(&self, experiment: &Experiment) -> String {
        let width = self.width();
        let what = format!("{} per {}", experiment.main_measure(), experiment.per);
        let heads: String = self.columns().map(|column| format!("  {:>10}", column.name)).collect();
        let mut out = format!("{what:width$}{heads}\n");
        for row in &self.rows {
            out += &format!("{:width$}", row.cell.to_string());
            if let Err(missing) = &row.main {
                out += &format!("  ({missing})\n");
                continue;
            }
            for (column, measured) in self.columns().zip(row.values()) {
                let shown = measured
                    .as_ref()
                    .map_or_else(|missing| missing.word.to_owned(), |quantity| format::quantity(quantity).value);
                out += &format!("  {shown:>width$}", width = column.name.len().max(10));
            }
            out += &format!("{}\n", render::marks_in_words(&row.marks));
        }
        out
    }

    /// So many letters has the longest of its cells.
    fn width(&self) -> usize {
        self.rows.iter().map(|row| row.cell.to_string().len()).max().unwrap_or(0)
    }

    /// For a script.
    pub fn json(&self, frame: Frame) -> serde_json::Value {
        let row = |row: &Row| {
            let slug = frame.view.machine.slug();
            let mut object = render::json(&row.cell.to_string(), &row.main, slug, frame.freshness.word());
            render::add_marks(&mut object, &row.marks);
            if row.main.is_ok() && !frame.experiment.is_timed() {
                let others = self.others.iter().zip(&row.others);
                let medians = others.map(|(column, measured)| (column.name.clone(), json!(median(measured))));
                object["others"] = medians.collect::<serde_json::Map<_, _>>().into();
            }
            object
        };
        self.rows.iter().map(row).collect()
    }

    /// Everything that its rows have, for download.
    fn csv(&self, experiment: &Experiment) -> String {
        if experiment.is_timed() {
            return rows::csv(experiment, &self.rows);
        }
        let names = self.columns().map(|column| column.name.clone());
        rows::csv_of(names, self.rows.iter().map(|row| (&row.cell, row.values().map(Some).collect())))
    }
}

fn number(measured: &Measured) -> table::Cell {
    table::Cell::html(match measured {
        Ok(quantity) => render::in_table(&format::quantity(quantity)),
        Err(missing) => render::in_cell(missing),
    })
}

/// A measure's name as a head says it: its unit stands apart.
fn words(measure: &str) -> String {
    let name = measure.strip_suffix("_bytes").or_else(|| measure.strip_suffix("_ns")).unwrap_or(measure);
    name.replace('_', " ")
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
