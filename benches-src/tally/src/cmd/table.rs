//! `tally table`: everything an experiment measured, cell by cell.

use std::rc::Rc;

use anyhow::Result;
use clap::Args;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::measure::counter_named;
use crate::book::published::{Figure, Publication};
use crate::book::unit::Unit;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::downloads;
use crate::print::escape::html;
use crate::print::format;
use crate::print::frame::{BETWEEN_SESSIONS, Frame, Inside, LEAST, Numbers, marks_notes, pairs_notes, rounds_notes};
use crate::print::measures::Measures;
use crate::print::render::{self, Form};
use crate::print::rows::{Column, Row, beside_the_time};
use crate::print::view::{Kept, View};
use crate::statistics::Estimate;

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
                if experiment.is_timed() { times(frame, form) } else { measures(frame, form) }
            }
        }
    }
}

fn times(frame: Frame, form: Form) -> Result<String> {
    let rows = Row::all(frame.experiment, frame.record)?;
    match form {
        Form::Page => page(frame, &rows),
        Form::Text => Ok(text(frame.experiment, &rows)),
        Form::Json => Ok(json(frame, &rows)),
    }
}

fn measures(frame: Frame, form: Form) -> Result<String> {
    let measures = Measures::of(frame.experiment, frame.record)?;
    match form {
        Form::Page => measures.page(frame),
        Form::Text => Ok(measures.text(frame)),
        Form::Json => Ok(measures.json(frame).to_string() + "\n"),
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

fn page(frame: Frame, rows: &[Row]) -> Result<String> {
    let (lacking, measured): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_full_only());
    let there = match frame.in_gaps()?.as_deref() {
        Some(Ok((record, _))) if !lacking.is_empty() => Row::all(frame.experiment, record)?,
        _ => Vec::new(),
    };
    let columns = Columns::of(frame, &measured)?;
    let missing = columns.missing(&measured);
    let marked = marks_notes(measured.iter().map(|row| (&row.cell, &row.marks)));
    let rounds = rounds_notes(measured.iter().map(|row| (&row.cell, &row.main)));
    let (mut numbers, mut full_only) = (Vec::new(), Vec::new());
    for row in rows {
        let other = || there.iter().find(|own| own.cell == row.cell && own.main.is_ok());
        let there = || other().map(|own| columns.cells(frame, own)).transpose();
        match Numbers::of(&row.main, || columns.cells(frame, row), there)? {
            Some(own) => numbers.push((&row.cell, own)),
            None => full_only.push(&row.cell),
        }
    }
    frame.page(&Inside {
        caption: html(&format!("Median per {} {BETWEEN_SESSIONS}", frame.experiment.per)),
        cells: numbers.iter().map(|(cell, _)| *cell).collect(),
        tables: frame.tables(&columns.heads(&frame.experiment.per), &numbers, &full_only, columns.first()),
        full_only,
        notes: [rounds, pairs_notes(frame.record, "elapsed"), marked, missing].concat(),
        csv: csv(frame.experiment, rows),
    })
}

/// Everything that rows have, for download.
pub fn csv(experiment: &Experiment, rows: &[Row]) -> String {
    let unit = rows.iter().find_map(|row| row.main.as_ref().ok()).map_or(Unit::Nanoseconds, |quantity| quantity.unit);
    let unit = unit.suffix();
    let counters = beside_the_time(experiment).into_iter().map(|(name, _)| name.to_owned());
    let names = [format!("median{unit}"), format!("beyond_baseline{unit}")].into_iter().chain(counters).collect();
    downloads::csv(names, rows.iter().map(|row| (&row.cell, row.numbers())))
}

/// The columns that a table has something to say in. Times come first, and what was counted besides has tables of its own.
struct Columns {
    beyond: bool,
    /// The reference machine's record, where another machine is shown.
    reference: Option<Rc<Kept>>,
    published: bool,
    /// Each with its place among a row's counters.
    measures: Vec<(usize, Column)>,
}

impl Columns {
    fn of(frame: Frame, rows: &[&Row]) -> Result<Self> {
        let Frame { view, experiment, .. } = frame;
        let mut published = false;
        for row in rows {
            published |= !view.published.beside(&row.cell)?.is_empty();
        }
        let moves = |row: &&Row, index: usize| {
            row.counters[index].as_ref().is_ok_and(|quantity| quantity.estimate.median >= LEAST)
        };
        // What only some programs count, and what counts the whole system, has a column only where a cell moves it.
        let is_shown = |(index, (name, _)): &(usize, Column)| {
            counter_named(name).is_none_or(|counter| counter.always) || rows.iter().any(|row| moves(row, *index))
        };
        Ok(Self {
            beyond: rows.iter().any(|row| row.beyond.is_some()),
            reference: frame.reference()?,
            published,
            measures: beside_the_time(experiment).into_iter().enumerate().filter(is_shown).collect(),
        })
    }

    /// Their heads after the program's, as HTML.
    fn heads(&self, per: &str) -> Vec<String> {
        let times = [
            Some(format!("one {per}")),
            self.beyond.then(|| "beyond I/O".to_owned()),
            self.reference.is_some().then(|| "reference".to_owned()),
            self.published.then(|| "published".to_owned()),
        ];
        let counted = self.measures.iter().map(|(_, (_, head))| (*head).to_owned());
        times.into_iter().flatten().chain(counted).map(|head| html(&head)).collect()
    }

    /// How many of them are times.
    fn first(&self) -> usize {
        1 + usize::from(self.beyond) + usize::from(self.reference.is_some()) + usize::from(self.published)
    }

    /// Why cells have no number. A row without its time says why itself, and one without any counter has one reason for all.
    fn missing(&self, rows: &[&Row]) -> Vec<String> {
        render::reasons(rows.iter().filter(|row| row.main.is_ok()).flat_map(|row| {
            let reasons = if row.counters.iter().all(Result::is_err) { 1 } else { self.measures.len() };
            let counters = self.measures.iter().take(reasons).map(|(index, _)| &row.counters[*index]);
            row.beyond.iter().chain(counters)
        }))
    }

    /// A row's cells after the program's, each on a scale of its own: a column may go over many powers of ten.
    fn cells(&self, frame: Frame, row: &Row) -> Result<Vec<String>> {
        let Ok(elapsed) = &row.main else { return Ok(Vec::new()) };
        let marks = render::marks_in_table(&row.marks);
        let mut cells = vec![format!("<td>{}{marks}</td>", render::in_table(&format::quantity(elapsed)))];
        if self.beyond {
            cells.push(row.beyond.as_ref().map_or("<td></td>".to_owned(), shown));
        }
        if let Some(kept) = &self.reference {
            cells.push(reference(kept, frame.experiment, &row.cell)?);
        }
        if self.published {
            cells.push(format!("<td>{}</td>", published(frame.view, row, elapsed)?));
        }
        cells.extend(self.measures.iter().map(|(index, _)| shown(&row.counters[*index])));
        Ok(cells)
    }
}

/// What the reference machine has of a cell, if it has it.
fn reference(kept: &Kept, experiment: &Experiment, cell: &Cell) -> Result<String> {
    let Ok((record, _)) = kept else { return Ok("<td></td>".to_owned()) };
    let measured = record.evaluate(&Expression::parse(&format!("{cell}.{}", experiment.main_measure()))?)?;
    Ok(measured.map_or("<td></td>".to_owned(), |quantity| {
        format!("<td>{}</td>", render::in_table(&format::quantity(&quantity)))
    }))
}

/// What others published of a cell.
fn published(view: &View, row: &Row, here: &Quantity) -> Result<String> {
    let figure = |(_, figure): &(&Publication, &Figure)| {
        let alone = Estimate { median: figure.value, interval: None, rounds: 0 };
        let value = format::estimate(here.unit, &alone).value;
        format!("{} <span class=\"interval\">{}</span>", html(&value), html(&figure.label))
    };
    Ok(view.published.beside(&row.cell)?.iter().map(figure).collect())
}

fn shown(measured: &Measured) -> String {
    match measured {
        Ok(quantity) => format!("<td>{}</td>", render::in_table(&format::quantity(quantity))),
        Err(missing) => format!("<td>{}</td>", render::in_cell(missing)),
    }
}

fn text(experiment: &Experiment, rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.cell.to_string().len()).max().unwrap_or(0);
    let mut out = format!("{:width$}  one {}\n", "cell", experiment.per);
    for row in rows {
        out += &format!("{:width$}  {}", row.cell.to_string(), render::plain(&row.main));
        if row.main.is_ok() {
            out += &render::marks_in_words(&row.marks);
        }
        if let Some(beyond) = &row.beyond {
            out += &format!(", beyond I/O {}", render::plain(beyond));
        }
        out += "\n";
    }
    out
}

fn json(frame: Frame, rows: &[Row]) -> String {
    let (slug, state) = (frame.view.machine.slug(), frame.freshness.word());
    let row = |row: &Row| {
        let mut object = render::json(&row.cell.to_string(), &row.main, slug, state);
        render::add_marks(&mut object, &row.marks);
        object
    };
    serde_json::Value::from(rows.iter().map(row).collect::<Vec<_>>()).to_string() + "\n"
}
