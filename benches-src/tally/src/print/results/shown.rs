//! The columns of an experiment's table on a page.

use std::rc::Rc;

use anyhow::Result;

use super::{COLUMNS_AT_MOST, Column, Results, number};
use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::measure::counter_named;
use crate::compute::quantity::Quantity;
use crate::print::escape::html;
use crate::print::format;
use crate::print::frame::{Frame, LEAST};
use crate::print::render;
use crate::print::rows::{self, Row};
use crate::print::table;
use crate::print::view::{Kept, View};
use crate::statistics::Estimate;

/// The columns in which a table has something to say. Times come first, and what was counted
/// besides has tables of its own.
pub(super) struct Shown<'a> {
    results: &'a Results,
    pub(super) is_timed: bool,
    beyond: bool,
    /// The reference machine's record, where another machine is shown.
    reference: Option<Rc<Kept>>,
    published: bool,
    /// Each with its place among a row's other numbers.
    others: Vec<(usize, &'a Column)>,
}

impl<'a> Shown<'a> {
    pub(super) fn of(results: &'a Results, frame: Frame, rows: &[&Row]) -> Result<Self> {
        let Frame { view, experiment, .. } = frame;
        let is_timed = experiment.is_timed();
        let mut published = false;
        for row in rows.iter().filter(|_| is_timed) {
            published |= !view.published.beside(&row.cell)?.is_empty();
        }
        let moves = |row: &&Row, index: usize| {
            row.others[index].as_ref().is_ok_and(|quantity| quantity.estimate.median >= LEAST)
        };
        // What only some programs count, and what counts the whole system, has a column only where
        // a cell moves it.
        let is_shown = |(index, column): &(usize, &Column)| {
            !is_timed
                || counter_named(&column.name).is_none_or(|counter| counter.always)
                || rows.iter().any(|row| moves(row, *index))
        };
        Ok(Self {
            results,
            is_timed,
            beyond: rows.iter().any(|row| row.beyond.is_some()),
            reference: if is_timed { frame.reference()? } else { None },
            published,
            others: results.others.iter().enumerate().filter(is_shown).collect(),
        })
    }

    /// Their heads after the program's.
    pub(super) fn heads(&self) -> Vec<String> {
        let beside =
            [(self.beyond, "beyond I/O"), (self.reference.is_some(), "reference"), (self.published, "published")];
        let beside = beside.into_iter().filter(|(is_there, _)| *is_there).map(|(_, head)| head.to_owned());
        let others = self.others.iter().map(|(_, column)| column.head.clone());
        [self.results.main.head.clone()].into_iter().chain(beside).chain(others).collect()
    }

    /// How many of them stand in the first table: all that are times.
    pub(super) fn first(&self) -> usize {
        if self.is_timed { self.heads().len() - self.others.len() } else { COLUMNS_AT_MOST }
    }

    /// Why cells have no number. A row without its main one says why itself, and one without any
    /// counter has one reason for all.
    pub(super) fn reasons(&self, rows: &[&Row]) -> Vec<String> {
        render::reasons(rows.iter().filter(|row| row.main.is_ok()).flat_map(|row| {
            let has_none = self.is_timed && row.others.iter().all(Result::is_err);
            let others = self.others.iter().take(if has_none { 1 } else { self.others.len() });
            row.beyond.iter().chain(others.map(|(index, _)| &row.others[*index]))
        }))
    }

    /// A row's cells after the program's, each on a scale of its own: a column may go over many
    /// powers of ten.
    pub(super) fn cells(&self, frame: Frame, row: &Row) -> Result<Vec<table::Cell>> {
        let Ok(main) = &row.main else { return Ok(Vec::new()) };
        let marks = render::marks_in_table(&row.marks);
        let mut cells = vec![table::Cell::html(render::in_table(&format::quantity(main)) + &marks)];
        if self.beyond {
            cells.push(row.beyond.as_ref().map_or_else(table::Cell::empty, number));
        }
        if let Some(kept) = &self.reference {
            cells.push(reference(kept, frame.experiment, &row.cell)?);
        }
        if self.published {
            cells.push(published(frame.view, &row.cell, main)?);
        }
        cells.extend(self.others.iter().map(|(index, _)| number(&row.others[*index])));
        Ok(cells)
    }
}

/// What the reference machine has of a cell, if it has it.
fn reference(kept: &Kept, experiment: &Experiment, cell: &Cell) -> Result<table::Cell> {
    let Ok((record, _)) = kept else { return Ok(table::Cell::empty()) };
    let measured = rows::measured(record, cell, experiment.main_measure())?;
    Ok(measured.map_or(table::Cell::empty(), |own| number(&Ok(own))))
}

/// What others published of a cell.
fn published(view: &View, cell: &Cell, here: &Quantity) -> Result<table::Cell> {
    let figures = view.published.beside(cell)?.into_iter().map(|(_, figure)| {
        let alone = Estimate { median: figure.value, interval: None, rounds: 0 };
        let value = format::estimate(here.unit, &alone).value;
        format!("{} <span class=\"interval\">{}</span>", html(&value), html(&figure.label))
    });
    Ok(table::Cell::html(figures.collect::<String>()))
}
