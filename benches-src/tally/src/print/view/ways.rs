//! Ways from the page that is printed to others.

use anyhow::Result;

use super::View;
use crate::book::cell::Cell;
use crate::book::experiment::{Experiment, select};
use crate::book::plan::Plan;
use crate::book::quantities::Asked;
use crate::print::render::{measure_anchor, row_anchor};
use crate::print::results::have_a_row_each;
use crate::project::Machine;

impl View {
    /// Whether the page that is printed is a chapter's own, or lies below it.
    pub fn is_in_chapter(&self, chapter: &str) -> bool {
        let page = self.page.as_deref().unwrap_or_default();
        page.strip_prefix(chapter).is_some_and(|rest| rest.starts_with(['.', '/']))
    }

    /// The way from the page that is printed to a file of the book's source.
    pub fn way_to(&self, file: &str) -> String {
        let depth = self.page.as_deref().map_or(0, |page| page.matches('/').count());
        "../".repeat(depth) + file
    }

    /// A link to what has this anchor, which is of this chapter.
    pub fn link(&self, chapter: &str, anchor: &str) -> String {
        let page = self.places.home(anchor).map_or_else(|| format!("{chapter}.md"), str::to_owned);
        format!("{}#{anchor}", self.way_to(&page))
    }

    /// A link to where an experiment's numbers stand.
    pub fn link_to(&self, plan: &Plan, experiment: &Experiment) -> String {
        self.link(&plan.chapter, &experiment.name)
    }

    /// A link to a number: the row of its cell, or of the first of several that it is computed
    /// from.
    pub fn link_to_number(&self, asked: &Asked) -> Result<String> {
        let Asked { plan, experiment, expression } = asked;
        let page = self.link_to(plan, experiment);
        let Some(selector) = expression.leaves().into_iter().next() else { return Ok(page) };
        let cells = experiment.planned_cells()?;
        let Ok(cell) = select(&cells, selector) else { return Ok(page) };
        if !self.places.has_table(&experiment.name) || !self.shows_row(plan, experiment, cell)? {
            return Ok(page);
        }
        let measures = &experiment.measures;
        let stands_below = cells.len() == 1 && have_a_row_each(measures.len()) && measures.contains(&selector.measure);
        let row = match row_anchor(experiment, cell) {
            row if stands_below => measure_anchor(&row, &selector.measure),
            row => row,
        };
        Ok(page.replacen(&format!("#{}", experiment.name), &format!("#{row}"), 1))
    }

    /// Whether a cell has a row in its experiment's table: of the machine that the book shows, of
    /// the reference machine in the place of what a reader's own lacks, or of the machine whose
    /// page it is.
    fn shows_row(&self, plan: &Plan, experiment: &Experiment, cell: &Cell) -> Result<bool> {
        let has = |machine: &Machine| -> Result<bool> {
            let kept = self.kept_on(machine, plan, experiment)?;
            Ok(kept.as_ref().as_ref().is_ok_and(|(record, _)| record.header.cells.contains(cell)))
        };
        let shown = self.of_machine(self.stands_in_for().unwrap_or_else(|| self.machine.clone()));
        if has(&shown.machine)? {
            return Ok(true);
        }
        let instead = self.project.reference().filter(|_| shown.machine == Machine::Local);
        let page_of = self.places.home(&experiment.name).map_or(Ok(None), |page| shown.stand_in(page))?;
        for machine in instead.into_iter().chain(page_of) {
            if has(&machine)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A link to a program's file on the page of all programs of its chapter.
    pub fn program(&self, chapter: &str, program: &str) -> String {
        self.way_to(&format!("{chapter}/programs.md#{program}"))
    }
}
