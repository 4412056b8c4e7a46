//! Experiments: the cells that answer one question together, and everything that decides which
//! numbers come out.

use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

use super::cell::{Cell, PLACEMENTS, TWIN};
use super::count::Count;
use super::expression::{Expression, Selector};
use super::grid::{CellGroup, Cells};
use super::measure;
use super::programs::Programs;
use super::renamed::{self, Renamed};

/// The cells that answer one question together: a file of a chapter's `experiments/`, whose name is
/// the experiment's.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The record's file name, and what directives call it.
    #[serde(skip)]
    pub name: String,
    /// What it asks, in a sentence that ends with a question mark.
    pub question: String,
    /// What was expected before it was run, in sentences. It is not changed afterwards.
    pub prediction: String,
    /// The operation, as a word that can follow "per": `"hop"`.
    pub per: String,
    /// The ratio whose interval decides whether the rounds are doubled: `"thread-pipe[free] /
    /// task-pipe[free]"`. Only an experiment that times nothing may have none, and its rounds are
    /// never doubled.
    #[serde(default)]
    pub headline: Option<String>,
    /// The cells that are run twice in every round, the A/A pairs: `["thread-pipe[free]"]`. Only an
    /// experiment that times nothing may have none.
    #[serde(default)]
    pub twins: Vec<String>,
    /// Programs with their grids, in the order in which tables list them: `[{ programs =
    /// ["thread-pipe"], quick = { placement = "free" } }]`.
    pub cells: Vec<Cells>,
    /// Each program with its whole grids.
    #[serde(skip)]
    pub groups: Vec<CellGroup>,
    /// What is counted, where time is not the point: `"system-calls"` or `"instructions"`.
    #[serde(default)]
    pub count: Option<Count>,
    /// The laps of the shorter and of the longer run of which the count is the difference, where a
    /// lap is long: `[4, 44]`.
    #[serde(default)]
    pub counted_laps: Option<[u64; 2]>,
    /// What its programs report instead of times, such as `["total_bytes"]`, in the order of the
    /// table's columns; figures show the first.
    #[serde(default)]
    pub measures: Vec<String>,
    /// What they report besides, which has no column of its own.
    #[serde(default)]
    pub further_measures: Vec<String>,
    /// Whether it pushes the machine to a limit, and is measured only by `cargo tally measure
    /// --push-limits`.
    #[serde(default)]
    pub push: bool,
    /// Whether a full run of all experiments leaves it out, and it is measured only where it is
    /// named.
    #[serde(default)]
    pub only_named: bool,
    /// Whether a full run links the programs anew for each round, with their functions in another
    /// order: where they are compared to the nanosecond, where their code lies decides as well.
    #[serde(default)]
    pub relinked: bool,
    /// The parameter that has another number in every round, the same for all cells: `"seed"`, from
    /// which random times are drawn.
    #[serde(default)]
    pub anew_each_round: Option<String>,
    /// How many rounds a full run gives it, whatever time these take. Without it they are 20, or at
    /// least 9 where these take long.
    #[serde(default)]
    pub rounds: Option<usize>,
    /// A program that takes longer than so many seconds is killed and counted as failed.
    #[serde(default = "default_limit_seconds")]
    pub limit_seconds: u64,
    /// How many laps every process times one by one, where their distribution is the point.
    #[serde(default)]
    pub histogram_laps: Option<u64>,
    /// How much each of those touches whose number its sweep varies, in bytes: the figure marks how
    /// many fill a cache.
    #[serde(default)]
    pub each_touches_bytes: Option<f64>,
    /// What must be known of the numbers in its table, besides their units; it stands below them.
    #[serde(default)]
    pub note: Option<String>,
    /// What quantities are made of, where the experiment takes some apart. Its figure of the shape
    /// `stack` shows them.
    #[serde(default)]
    pub parts: Vec<Parts>,
    /// Cells that are called otherwise than when older records were measured: `[{ was =
    /// "cost-tls[what=record]", is = "cost-tls-record" }]`.
    #[serde(default)]
    pub renamed: Vec<Renamed>,
    /// Every cell of a full run, from when it was first asked for.
    #[serde(skip)]
    pub(super) full: OnceLock<Vec<Cell>>,
}

/// A quantity taken apart. What the parts leave over is shown as unexplained.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// What is taken apart, in a word or two; needed where there is more than one.
    #[serde(default)]
    pub name: Option<String>,
    /// What they are to add up to: an expression on this experiment's cells, or a quantity's name.
    pub whole: String,
    /// The parts, in the order in which they are stacked.
    pub of: Vec<PartOfWhole>,
}

/// A summand.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartOfWhole {
    /// A few words, such as `"page tables"`.
    pub name: String,
    /// How much of the whole it is, in the whole's unit: an expression, as above.
    pub quantity: String,
}

fn default_limit_seconds() -> u64 {
    60
}

impl Parts {
    pub(super) fn quantities(&self) -> impl Iterator<Item = &str> {
        [self.whole.as_str()].into_iter().chain(self.of.iter().map(|part| part.quantity.as_str()))
    }

    /// What these leave of the whole, as an expression.
    pub fn without(&self, explained: &[&str]) -> String {
        let subtract: String = explained.iter().map(|quantity| format!(" - ({quantity})")).collect();
        format!("{}{subtract}", self.whole)
    }
}

impl Experiment {
    /// Puts in what the chapter says of its programs.
    pub(super) fn resolve(&mut self, known: &Programs) -> Result<()> {
        let groups = self.cells.iter().map(|cells| cells.groups(known)).collect::<Result<Vec<_>>>()?;
        self.groups = groups.concat();
        let run: Vec<String> = self.groups.iter().map(|group| group.program.clone()).collect();
        for group in &mut self.groups {
            group.baseline = group.baseline.take().filter(|baseline| run.contains(baseline));
        }
        Ok(())
    }

    /// Every cell that a quick run measures, twins included.
    pub fn quick_cells(&self) -> Result<Vec<Cell>> {
        let grid = |group: &CellGroup| group.quick.as_ref().map(|grid| grid.cells(&group.program));
        let quick: Vec<Cell> = self.groups.iter().filter_map(grid).flatten().collect();
        let twins = self.twins()?.into_iter().filter(|twin| quick.iter().any(|cell| cell.twin() == *twin));
        Ok([quick.clone(), twins.collect()].concat())
    }

    /// Every cell that a full run measures, twins included.
    pub fn full_cells(&self) -> Result<&[Cell]> {
        if let Some(known) = self.full.get() {
            return Ok(known);
        }
        let cells = [self.single_cells(), self.twins()?].concat();
        Ok(self.full.get_or_init(|| cells))
    }

    /// Every cell of a full run but the second arms of A/A pairs, in the order of a table.
    pub fn planned_cells(&self) -> Result<Vec<Cell>> {
        let mut cells = self.full_cells()?.to_vec();
        cells.retain(|cell| !cell.is_twin());
        cells.sort_by_key(|cell| PLACEMENTS.iter().position(|placement| *placement == cell.placement));
        Ok(cells)
    }

    fn single_cells(&self) -> Vec<Cell> {
        let grid = |group: &CellGroup| Some(group.full.as_ref().or(group.quick.as_ref())?.cells(&group.program));
        self.groups.iter().filter_map(grid).flatten().collect()
    }

    fn twins(&self) -> Result<Vec<Cell>> {
        let cells = self.single_cells();
        let twin = |text: &String| {
            let Expression::Leaf(selector) = Expression::parse(text)? else {
                bail!("a twin is one cell, not {text:?}");
            };
            let found = select(&cells, &selector)?;
            ensure!(found.condition.is_none(), "{found} cannot have a twin, since it has a condition already");
            Ok(found.twin())
        };
        self.twins.iter().map(twin).collect()
    }

    pub(super) fn check_what_it_measures(&self) -> Result<()> {
        if !self.renamed.is_empty() {
            renamed::check(&self.renamed, self.full_cells()?)?;
        }
        if self.is_timed() {
            ensure!(
                self.headline.is_some(),
                "it has no headline, and only an experiment that times nothing may have none"
            );
            ensure!(!self.twins.is_empty(), "it has no twins, and only an experiment that times nothing may have none");
        } else {
            ensure!(self.histogram_laps.is_none(), "it times nothing, so it has no histogram_laps");
            ensure!(self.count.is_none() || self.measures.is_empty(), "what it counts are its only measures");
            ensure!(!self.relinked, "it times nothing, so it need not be relinked");
        }
        let Some(headline) = &self.headline else { return Ok(()) };
        self.answers(&Expression::parse(headline)?).context("in the headline")
    }

    /// Whether its programs time what they do.
    pub fn is_timed(&self) -> bool {
        self.count.is_none() && self.measures.is_empty()
    }

    /// What a number of it is, where nothing else is said.
    pub fn main_measure(&self) -> &str {
        match self.count {
            Some(count) => count.all(),
            None => self.measures.first().map_or("elapsed", String::as_str),
        }
    }

    /// Whether a quick run measures nothing of it.
    pub fn is_full_only(&self) -> bool {
        self.groups.iter().all(|group| group.quick.is_none())
    }

    /// Whether a build of the book measures it, as it is set at first.
    pub fn is_measured_unasked(&self) -> bool {
        self.is_asked_for(&[]) && !self.is_full_only() && !self.push
    }

    /// Whether it is among those that were named, or among all where none was.
    pub fn is_asked_for(&self, names: &[String]) -> bool {
        if names.is_empty() { !self.only_named } else { names.contains(&self.name) }
    }

    /// The command that measures it.
    pub fn command(&self) -> String {
        let push = if self.push { " --push-limits" } else { "" };
        let full = if self.is_full_only() { " --effort full" } else { "" };
        format!("cargo tally measure {}{full}{push}", self.name)
    }

    /// The group that a program belongs to.
    pub fn group(&self, program: &str) -> Option<&CellGroup> {
        self.groups.iter().find(|group| group.program == program)
    }

    /// The programs it runs.
    pub fn programs(&self) -> Vec<&str> {
        self.groups.iter().map(|group| group.program.as_str()).collect()
    }

    /// The laps of the shorter and of the longer run, where it counts this.
    pub fn laps_of(&self, count: Count) -> [u64; 2] {
        self.counted_laps.unwrap_or(count.laps())
    }

    /// Whether it has every cell of an expression, and measures what the expression asks of them.
    pub fn answers(&self, expression: &Expression) -> Result<()> {
        let cells = self.full_cells()?;
        for leaf in expression.leaves() {
            select(cells, leaf)?;
            measure::check(&leaf.measure, self)?;
        }
        Ok(())
    }

    /// Whether it runs every program of an expression.
    pub fn has_programs_of(&self, expression: &Expression) -> bool {
        expression.leaves().into_iter().all(|leaf| self.group(&leaf.name).is_some())
    }
}

/// The one cell that a selector means.
pub fn select<'a>(cells: &'a [Cell], selector: &Selector) -> Result<&'a Cell> {
    let found = matching(cells, selector);
    let list = |cells: Vec<&Cell>| cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match found[..] {
        [one] => Ok(one),
        [] => bail!(
            "there is no cell {selector}; there are: {}",
            list(cells.iter().filter(|cell| cell.program == selector.name).collect())
        ),
        _ => bail!("{selector} could mean any of: {}", list(found)),
    }
}

/// An expression with every cell in full that it means among these, however much of it is said.
pub fn in_full(expression: &Expression, cells: &[Cell]) -> String {
    let part = |own: &Expression| in_full(own, cells);
    match expression {
        Expression::Number(number) => number.to_string(),
        Expression::Leaf(selector) => match matching(cells, selector)[..] {
            [cell] => format!("{cell}.{}", selector.measure),
            _ => selector.to_string(),
        },
        Expression::Binary(a, operator, b) => format!("({} {} {})", part(a), operator.sign(), part(b)),
        Expression::In(_, formula) => part(formula),
    }
}

/// All cells that a selector could mean. One that names no condition means those without any,
/// wherever there are such.
pub fn matching<'a>(cells: &'a [Cell], selector: &Selector) -> Vec<&'a Cell> {
    let matches = |cell: &&Cell| {
        let wanted = |(name, value): &(Option<String>, String)| match name {
            Some(name) => cell.parameters.get(name).is_some_and(|own| crate::book::cell::plain(own) == *value),
            None => cell.placement == *value || cell.condition.as_deref() == Some(value),
        };
        let twin_asked_for = selector.conditions.iter().any(|(_, word)| word == TWIN);
        cell.program == selector.name && cell.is_twin() == twin_asked_for && selector.conditions.iter().all(wanted)
    };
    let mut found: Vec<&Cell> = cells.iter().filter(matches).collect();
    if selector.condition().is_none() && found.iter().any(|cell| cell.condition.is_none()) {
        found.retain(|cell| cell.condition.is_none());
    }
    found
}
