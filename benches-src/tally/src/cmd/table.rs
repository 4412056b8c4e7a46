//! `tally table`: everything an experiment measured, cell by cell.

use anyhow::Result;
use clap::Args;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::measure::counter_named;
use crate::book::published::{Figure, Publication};
use crate::book::unit::Unit;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::compute::series::is_time;
use crate::print::downloads;
use crate::print::escape::html;
use crate::print::format::{self, Scale, Shown};
use crate::print::frame::{Frame, Inside, LEAST, OVER_ROUNDS, marks_notes, pairs_notes, without_number};
use crate::print::measures::{Measures, scale_of};
use crate::print::render::{self, Form};
use crate::print::rows::{Column, Row, beside_the_time};
use crate::print::view::View;

/// Everything that an experiment measured
#[derive(Args)]
pub struct Table {
    /// The experiment
    pub experiment: String,
}

impl Table {
    /// Prints it.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let (plan, experiment) = view.plans.experiment(&self.experiment)?;
        let kept = view.kept(plan, experiment)?;
        match kept.as_ref() {
            Err(missing) => Ok(without_record(missing, experiment, form)),
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
    let (full_only, measured): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_full_only());
    let columns = Columns::of(frame.view, frame.experiment, &measured)?;
    let missing = columns.missing(&measured);
    let marked = marks_notes(measured.iter().map(|row| (&row.cell, &row.marks)));
    let full_only: Vec<&Cell> = full_only.into_iter().map(|row| &row.cell).collect();
    let mut numbers = Vec::new();
    for row in measured {
        numbers.push((&row.cell, columns.cells(frame.view, row)?));
    }
    let heads = columns.heads(&frame.experiment.per);
    frame.page(&Inside {
        caption: html(&format!("Median per {} {OVER_ROUNDS} of fresh processes", frame.experiment.per)),
        cells: numbers.iter().map(|(cell, _)| *cell).collect(),
        table: frame.rows(&heads, &numbers, &full_only),
        full_only,
        notes: [pairs_notes(frame.record, "elapsed"), marked, missing].concat(),
        csv: csv(frame.experiment, rows),
    })
}

/// Everything that rows have, for download.
pub fn csv(experiment: &Experiment, rows: &[Row]) -> String {
    let unit = rows.iter().find_map(|row| row.main.as_ref().ok()).map_or(Unit::Nanoseconds, |quantity| quantity.unit);
    let unit = render::unit_suffix(unit);
    let counters = beside_the_time(experiment).into_iter().map(|(name, _)| name.to_owned());
    let names = [format!("median{unit}"), format!("beyond_baseline{unit}")].into_iter().chain(counters).collect();
    downloads::csv(names, rows.iter().map(|row| (&row.cell, row.numbers())))
}

/// The columns that a table has something to say in, and the scale of its times.
struct Columns {
    scale: Scale,
    beyond: bool,
    /// Each with its place among a row's counters.
    measures: Vec<(usize, Column)>,
    published: bool,
}

impl Columns {
    fn of(view: &View, experiment: &Experiment, rows: &[&Row]) -> Result<Self> {
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
            scale: scale_of(rows.iter().map(|row| &row.main)),
            beyond: rows.iter().any(|row| row.beyond.is_some()),
            measures: beside_the_time(experiment).into_iter().enumerate().filter(is_shown).collect(),
            published,
        })
    }

    /// Their heads after the program's, as HTML.
    fn heads(&self, per: &str) -> Vec<String> {
        let time = |text: &str| html(&self.scale.head(text));
        let mut heads = vec![time(&format!("one {per}"))];
        heads.extend(self.beyond.then(|| time("beyond I/O")));
        let measures = self.measures.iter();
        heads.extend(measures.map(|(_, (name, text))| if is_time(name) { time(text) } else { html(text) }));
        heads.push("rounds".to_owned());
        heads.extend(self.published.then(|| time("published")));
        heads
    }

    /// Why cells have no number. A row without its time says why itself, and one without any counter has one reason for all.
    fn missing(&self, rows: &[&Row]) -> Vec<String> {
        render::reasons(rows.iter().filter(|row| row.main.is_ok()).flat_map(|row| {
            let reasons = if row.counters.iter().all(Result::is_err) { 1 } else { self.measures.len() };
            let counters = self.measures.iter().take(reasons).map(|(index, _)| &row.counters[*index]);
            row.beyond.iter().chain(counters)
        }))
    }

    /// How many there are after the program's.
    fn width(&self) -> usize {
        2 + usize::from(self.beyond) + self.measures.len() + usize::from(self.published)
    }

    /// A row's cells after the program's.
    fn cells(&self, view: &View, row: &Row) -> Result<String> {
        let elapsed = match &row.main {
            Ok(quantity) => quantity,
            Err(missing) => return Ok(without_number(missing, self.width())),
        };
        let time =
            |measured: &Measured| shown(measured, |quantity| format::on_scale(&quantity.in_session(), self.scale));
        let uncounted = row.counters.iter().all(Result::is_err);
        let measure = |(index, (name, _)): &(usize, Column)| {
            shown(&row.counters[*index], |quantity| match is_time(name) {
                true => format::on_scale(&quantity.in_session(), self.scale),
                false => format::in_session(quantity),
            })
        };
        let main = format::on_scale(&elapsed.in_session(), self.scale);
        let mut cells = vec![format!("<td>{}{}</td>", render::in_table(&main), render::marks_in_table(&row.marks))];
        if self.beyond {
            cells.push(row.beyond.as_ref().map_or("<td></td>".to_owned(), time));
        }
        match row.counters.first() {
            // One reason says it for all.
            Some(Err(missing)) if uncounted => {
                let (width, word) = (self.measures.len(), render::boxed_word(missing));
                cells.push(format!("<td colspan=\"{width}\" class=\"none\">{word} no counters of its own</td>"));
            }
            _ => cells.extend(self.measures.iter().map(measure)),
        }
        cells.push(format!("<td>{}</td>", elapsed.estimate.rounds));
        if self.published {
            let figure = |(_, figure): &(&Publication, &Figure)| {
                let (value, label) = (html(&self.scale.show(figure.value)), html(&figure.label));
                format!("{value} <span class=\"interval\">{label}</span>")
            };
            let figures: String = view.published.beside(&row.cell)?.iter().map(figure).collect();
            cells.push(format!("<td>{figures}</td>"));
        }
        Ok(cells.concat())
    }
}

fn shown(measured: &Measured, show: impl Fn(&Quantity) -> Shown) -> String {
    match measured {
        Ok(quantity) => format!("<td>{}</td>", render::in_table(&show(quantity))),
        Err(missing) => format!("<td>{}</td>", render::boxed_word(missing)),
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
