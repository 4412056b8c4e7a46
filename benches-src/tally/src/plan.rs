//! What a chapter measures, as data: its experiments and its claims, decided before the numbers exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cell::{CONDITIONS, Cell, PLACEMENTS, TWIN};
use crate::counted::Count;
use crate::expression::{Expression, Selector};
use crate::measure;
use crate::name;
use crate::project::Project;
use crate::quantities::{self, Named};
use crate::verdict::Verdict;

/// A chapter's `plan.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The folder's name.
    #[serde(skip)]
    pub chapter: String,
    /// The numbers that have a name, from a file of their own.
    #[serde(skip)]
    pub quantities: Vec<Named>,
    /// The experiments in the order in which they are measured.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// The claims in the order in which they are listed.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
    /// The programs that are no cells, since another program starts them.
    #[serde(rename = "tool", default)]
    pub tools: Vec<Tool>,
}

/// A program that is not measured, but used by those that are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// A file of the chapter's `src/bin`.
    pub name: String,
}

/// The cells that answer one question together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The record's file name, and what directives call it.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// What was expected before it was run.
    pub prediction: String,
    /// The operation, as a word that can follow "per".
    pub per: String,
    /// The ratio whose interval decides whether the rounds are doubled. Only an experiment that times nothing may have none, and
    /// its rounds are never doubled.
    #[serde(default)]
    pub headline: Option<String>,
    /// The cells that are run twice in every round: the A/A pairs. Only an experiment that times nothing may have none.
    #[serde(default)]
    pub twins: Vec<String>,
    /// What is counted, where time is not the point: `count = "system-calls"` or `"instructions"`.
    #[serde(default)]
    pub count: Option<Count>,
    /// The laps of the shorter and of the longer run of which the count is the difference, where a lap is long.
    #[serde(default)]
    pub counted_laps: Option<[u64; 2]>,
    /// What its programs report instead of times, in the order of the table's columns; figures show the first.
    #[serde(default)]
    pub measures: Vec<String>,
    /// What they report besides, which has no column of its own.
    #[serde(default)]
    pub further_measures: Vec<String>,
    /// Whether it pushes the machine to a limit, and is measured only where somebody asks for that.
    #[serde(default)]
    pub push: bool,
    /// Whether a full run links the programs anew for each round, with their functions in another order: where they are compared to
    /// the nanosecond, where their code lies decides as well.
    #[serde(default)]
    pub relinked: bool,
    /// A full run gives it all rounds, even where they take so long that another experiment's would end sooner.
    #[serde(default)]
    pub all_rounds: bool,
    /// A program that takes longer than this is killed and counted as failed.
    #[serde(default = "default_limit_seconds")]
    pub limit_seconds: u64,
    /// Laps that every process times one by one, where their distribution is the point.
    #[serde(default)]
    pub histogram_laps: Option<u64>,
    /// The takeaway under each of its figures, by shape, with quantities in braces.
    #[serde(default)]
    pub captions: BTreeMap<String, String>,
    /// What must be known of the numbers in its table, besides their units.
    #[serde(default)]
    pub note: Option<String>,
    /// Programs with their grids.
    pub cells: Vec<CellGroup>,
    /// What quantities are made of, where the experiment takes some apart.
    #[serde(default)]
    pub parts: Vec<Parts>,
}

/// A quantity taken apart. What the parts leave over is shown as unexplained.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// What is taken apart, in a word or two; needed where there is more than one.
    #[serde(default)]
    pub name: Option<String>,
    /// What they are to add up to.
    pub whole: String,
    /// Each with a few words and its quantity, in the whole's unit.
    pub of: Vec<PartOfWhole>,
}

/// A summand.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartOfWhole {
    /// A few words.
    pub name: String,
    /// How much of the whole it is.
    pub quantity: String,
}

fn default_limit_seconds() -> u64 {
    60
}

/// A program and the grid on which it is run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellGroup {
    /// A file of the chapter's `src/bin`.
    pub program: String,
    /// Which colour it has in every figure.
    pub kind: Kind,
    /// The program that does the same input and output without any switch.
    #[serde(default)]
    pub beyond: Option<String>,
    /// The grid of a quick run. Absent where only a full run measures it.
    #[serde(default)]
    pub quick: Option<Grid>,
    /// The grid of a full run, where it is larger.
    #[serde(default)]
    pub full: Option<Grid>,
}

/// What a program stands for in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A kernel thread.
    Thread,
    /// A task of a runtime.
    Task,
    /// A task of our own executor.
    Executor,
    /// What is measured to be subtracted.
    Baseline,
    /// A stackful coroutine.
    Coroutine,
}

/// Placements, conditions and parameter values, of which every combination is a cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grid {
    placement: Vec<String>,
    /// What is changed around the program: `condition = ["none", "spinners"]`. Left out, it is `["none"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    condition: Vec<String>,
    #[serde(flatten)]
    parameters: BTreeMap<String, Vec<Value>>,
}

/// One sentence that the data can confirm or contradict.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `C1` …
    pub id: String,
    /// The sentence, word for word.
    pub sentence: String,
    /// Whether it is in our words instead, and stands without quotation marks.
    #[serde(default)]
    pub paraphrased: bool,
    /// The file of `data/published` it comes from.
    pub source: String,
    /// What part of the sentence is checked, where that is not all of it, and how.
    #[serde(default)]
    pub note: Option<String>,
    /// The experiment whose record decides.
    pub experiment: String,
    /// The parts; the claim is as good as its worst.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// What is concluded, by verdict.
    pub conclusion: Conclusion,
}

/// One quantity of a claim, with what would agree and what would contradict.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A few words.
    pub name: String,
    /// What is measured here.
    pub quantity: String,
    /// The experiment whose record decides, where it is not the claim's.
    #[serde(default)]
    pub experiment: Option<String>,
    /// The figure published, as an expression on published figures; its times are in nanoseconds.
    pub published: String,
    /// Agreement is within this factor either way of what was published.
    #[serde(default = "default_agreement")]
    pub agreement: f64,
    /// The value that would mean that there is no such effect. Absent where the claim itself is that there is none.
    #[serde(default)]
    pub no_effect: Option<String>,
    /// What was published of it, where it is measured here: from there on, the published figure says in which direction the claim goes.
    #[serde(default)]
    pub no_effect_published: Option<String>,
}

fn default_agreement() -> f64 {
    1.25
}

/// The concluding sentence for each verdict that the data can give, with quantities in braces.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Conclusion {
    /// How it begins whatever the verdict: mostly with the figures. The others are its ends then.
    #[serde(default)]
    begins: String,
    /// The interval lies in the band of agreement.
    holds: String,
    /// Outside the band, on the same side of no effect.
    shifted: String,
    /// On the other side, or at no effect.
    does_not_hold: String,
    /// None of these can be said.
    #[serde(default = "undecided")]
    inconclusive: String,
}

fn undecided() -> String {
    ": undecided, since an interval reaches over a bound of what would agree, or does not clear the noise.".to_owned()
}

impl Conclusion {
    /// The sentence for a verdict; none where there is no number to conclude from.
    pub fn sentence(&self, verdict: Verdict) -> Option<String> {
        let end = match verdict {
            Verdict::Holds => &self.holds,
            Verdict::Shifted => &self.shifted,
            Verdict::DoesNotHold => &self.does_not_hold,
            Verdict::Inconclusive => &self.inconclusive,
            Verdict::NotMeasured => return None,
        };
        Some(format!("{}{end}", self.begins))
    }

    /// Those for all verdicts.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let verdicts = [Verdict::Holds, Verdict::Shifted, Verdict::DoesNotHold, Verdict::Inconclusive];
        verdicts.into_iter().filter_map(|verdict| self.sentence(verdict))
    }
}

impl Parts {
    fn quantities(&self) -> impl Iterator<Item = &str> {
        [self.whole.as_str()].into_iter().chain(self.of.iter().map(|part| part.quantity.as_str()))
    }

    /// What these leave of the whole, as an expression.
    pub fn without(&self, explained: &[&str]) -> String {
        let subtract: String = explained.iter().map(|quantity| format!(" - ({quantity})")).collect();
        format!("{}{subtract}", self.whole)
    }
}

/// How a grid says that nothing is changed around the program.
const NO_CONDITION: &str = "none";

impl Grid {
    fn cells(&self, program: &str) -> Vec<Cell> {
        let mut settings = vec![BTreeMap::new()];
        for (name, values) in &self.parameters {
            let extend = |setting: &BTreeMap<String, Value>| {
                let with = |value: &Value| {
                    let mut setting = setting.clone();
                    setting.insert(name.clone(), value.clone());
                    setting
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            settings = settings.iter().flat_map(extend).collect();
        }
        let mut cells = Vec::new();
        for parameters in &settings {
            for placement in &self.placement {
                cells.extend(self.conditions().into_iter().map(|condition| Cell {
                    program: program.to_owned(),
                    parameters: parameters.clone(),
                    placement: placement.clone(),
                    condition,
                }));
            }
        }
        cells
    }

    fn conditions(&self) -> Vec<Option<String>> {
        if self.condition.is_empty() {
            return vec![None];
        }
        self.condition.iter().map(|word| (word != NO_CONDITION).then(|| word.clone())).collect()
    }

    fn check(&self, program: &str) -> Result<()> {
        let known = |what: &str, words: &[String], known: &[&str]| -> Result<()> {
            for word in words {
                let list = known.join(", ");
                ensure!(known.contains(&word.as_str()), "unknown {what} {word:?} of {program}; there are: {list}");
            }
            Ok(())
        };
        known("placement", &self.placement, &PLACEMENTS)?;
        known("condition", &self.condition, &[&[NO_CONDITION][..], &CONDITIONS].concat())
    }
}

impl Experiment {
    /// Every cell that a quick run measures, twins included.
    pub fn quick_cells(&self) -> Result<Vec<Cell>> {
        let grid = |group: &CellGroup| group.quick.as_ref().map(|grid| grid.cells(&group.program));
        let quick: Vec<Cell> = self.cells.iter().filter_map(grid).flatten().collect();
        let twins = self.twins()?.into_iter().filter(|twin| quick.iter().any(|cell| cell.twin() == *twin));
        Ok([quick.clone(), twins.collect()].concat())
    }

    /// Every cell that a full run measures, twins included.
    pub fn full_cells(&self) -> Result<Vec<Cell>> {
        Ok([self.single_cells(), self.twins()?].concat())
    }

    fn single_cells(&self) -> Vec<Cell> {
        let grid = |group: &CellGroup| Some(group.full.as_ref().or(group.quick.as_ref())?.cells(&group.program));
        self.cells.iter().filter_map(grid).flatten().collect()
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

    fn check_what_it_measures(&self) -> Result<()> {
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
        self.cells.iter().all(|group| group.quick.is_none())
    }

    /// The command that measures it.
    pub fn command(&self) -> String {
        let push = if self.push { " --push-limits" } else { "" };
        let full = if self.is_full_only() { " --effort full" } else { "" };
        format!("cargo tally measure {}{full}{push}", self.name)
    }

    /// The group that a program belongs to.
    pub fn group(&self, program: &str) -> Option<&CellGroup> {
        self.cells.iter().find(|group| group.program == program)
    }

    /// The programs it runs.
    pub fn programs(&self) -> Vec<&str> {
        self.cells.iter().map(|group| group.program.as_str()).collect()
    }

    /// What decides which numbers come out, and so what a record must agree with: not the words around it.
    pub fn measured_part(&self) -> Value {
        let grids =
            |group: &CellGroup| serde_json::json!({"program": group.program, "quick": group.quick, "full": group.full});
        let mut part = serde_json::json!({
            "cells": self.cells.iter().map(grids).collect::<Vec<_>>(),
            "headline": self.headline,
            "twins": self.twins,
            "limit_seconds": self.limit_seconds,
            "histogram_laps": self.histogram_laps,
        });
        // Only where there is one, so that the hashes of all other experiments stay what they were.
        if let Some(count) = self.count {
            part["count"] = serde_json::json!(count);
        }
        if let Some(laps) = self.counted_laps {
            part["counted_laps"] = serde_json::json!(laps);
        }
        if self.relinked {
            part["relinked"] = true.into();
        }
        part
    }

    /// The laps of the shorter and of the longer run, where it counts this.
    pub fn laps_of(&self, count: Count) -> [u64; 2] {
        self.counted_laps.unwrap_or(count.laps())
    }

    /// Whether it has every cell of an expression, and measures what the expression asks of them.
    pub fn answers(&self, expression: &Expression) -> Result<()> {
        let cells = self.full_cells()?;
        for leaf in expression.leaves() {
            select(&cells, leaf)?;
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

/// All cells that a selector could mean. One that names no condition means those without any, wherever there are such.
pub fn matching<'a>(cells: &'a [Cell], selector: &Selector) -> Vec<&'a Cell> {
    let matches = |cell: &&Cell| {
        let wanted = |(name, value): &(Option<String>, String)| match name {
            Some(name) => cell.parameters.get(name).is_some_and(|own| crate::cell::plain(own) == *value),
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

/// All plans, in the order of the chapters' names.
pub struct Plans(pub Vec<Plan>);

impl Plans {
    /// Reads and checks every plan of the project.
    pub fn load(project: &Project) -> Result<Self> {
        let benches = project.benches();
        let mut plans = Vec::new();
        let folders = fs::read_dir(&benches).with_context(|| format!("cannot list {}", benches.display()))?;
        let mut chapters: Vec<String> =
            folders.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        chapters.sort();
        for chapter in chapters {
            let path = project.plan(&chapter);
            if path.is_file() {
                name::check(&chapter, "a chapter").with_context(|| format!("in {}", benches.display()))?;
                plans.push(Plan::load(project, chapter).with_context(|| format!("in {}", path.display()))?);
            }
        }
        Ok(Self(plans))
    }

    /// The experiment of this name, with its chapter.
    pub fn experiment(&self, name: &str) -> Result<(&Plan, &Experiment)> {
        let all = || self.experiments();
        all().find(|(_, experiment)| experiment.name == name).with_context(|| {
            let known: Vec<&str> = all().map(|(_, experiment)| experiment.name.as_str()).collect();
            format!("unknown experiment {name:?}; there are: {}", known.join(", "))
        })
    }

    /// The claim of this id, with its chapter.
    pub fn claim(&self, id: &str) -> Result<(&Plan, &Claim)> {
        let all = || self.0.iter().flat_map(|plan| plan.claims.iter().map(move |claim| (plan, claim)));
        all().find(|(_, claim)| claim.id == id).with_context(|| {
            let known: Vec<&str> = all().map(|(_, claim)| claim.id.as_str()).collect();
            format!("unknown claim {id:?}; there are: {}", known.join(", "))
        })
    }

    /// Every claim with its chapter.
    pub fn claims(&self) -> impl Iterator<Item = (&Plan, &Claim)> {
        self.0.iter().flat_map(|plan| plan.claims.iter().map(move |claim| (plan, claim)))
    }

    /// Every experiment with its chapter.
    pub fn experiments(&self) -> impl Iterator<Item = (&Plan, &Experiment)> {
        self.0.iter().flat_map(|plan| plan.experiments.iter().map(move |experiment| (plan, experiment)))
    }

    /// The chapter of a program.
    pub fn chapter_of(&self, program: &str) -> Result<&Plan> {
        let found = self.experiments().find(|(_, experiment)| experiment.group(program).is_some());
        let (plan, _) = found.with_context(|| {
            let programs = self.experiments().flat_map(|(_, experiment)| experiment.programs());
            let known: BTreeSet<&str> = programs.collect();
            format!("unknown program {program:?}; there are: {}", known.into_iter().collect::<Vec<_>>().join(", "))
        })?;
        Ok(plan)
    }
}

impl Plan {
    fn load(project: &Project, chapter: String) -> Result<Self> {
        let text = fs::read_to_string(project.plan(&chapter))?;
        let mut plan: Plan = toml::from_str(&text)?;
        plan.quantities = quantities::load(project, &chapter)?;
        plan.chapter = chapter;
        for experiment in &plan.experiments {
            plan.check(project, experiment).with_context(|| format!("experiment {}", experiment.name))?;
        }
        for Claim { id, .. } in &plan.claims {
            let is_anchor = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
            ensure!(is_anchor, "{id:?} is no id for a claim; use letters and digits, such as C1");
        }
        Ok(plan)
    }

    fn check(&self, project: &Project, experiment: &Experiment) -> Result<()> {
        name::check(&experiment.name, "an experiment")?;
        for group in &experiment.cells {
            name::check(&group.program, "a program")?;
            let listing = Project::listing(&self.chapter, &group.program);
            ensure!(
                project.benches().join(&listing).is_file(),
                "unknown program {:?}: there is no benches-src/{listing}",
                group.program
            );
            let grids = || [group.quick.as_ref(), group.full.as_ref()].into_iter().flatten();
            ensure!(grids().next().is_some(), "{} has neither a quick nor a full grid", group.program);
            for grid in grids() {
                grid.check(&group.program)?;
            }
            if let Some(baseline) = &group.beyond {
                ensure!(
                    experiment.group(baseline).is_some(),
                    "{} names an unknown baseline {baseline:?}",
                    group.program
                );
            }
        }
        let (quick, full) = (experiment.quick_cells()?, experiment.full_cells()?);
        for cell in &quick {
            ensure!(full.contains(cell), "the full grid lacks {cell}, which the quick grid has");
            // Else a selector without a condition would mean another cell in a quick record than in a full one.
            let plain = cell.plain();
            ensure!(quick.contains(&plain) || !full.contains(&plain), "the quick grid lacks {plain}, but has {cell}");
        }
        experiment.check_what_it_measures()?;
        for text in experiment.parts.iter().flat_map(Parts::quantities) {
            experiment.answers(&Expression::parse(text)?).context("in a part")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conclusion_is_its_beginning_with_the_end_for_the_verdict() {
        let text = "begins = \"It takes {a}\"\nholds = \", as published.\"\nshifted = \", not what was published.\"\ndoes-not-hold = \".\"";
        let conclusion: Conclusion = toml::from_str(text).unwrap();
        assert_eq!(conclusion.sentence(Verdict::Holds).unwrap(), "It takes {a}, as published.");
        assert_eq!(conclusion.sentence(Verdict::DoesNotHold).unwrap(), "It takes {a}.");
        assert!(conclusion.sentence(Verdict::Inconclusive).unwrap().starts_with("It takes {a}: undecided, since"));
        assert_eq!(conclusion.sentence(Verdict::NotMeasured), None);
        assert_eq!(conclusion.sentences().count(), 4);
    }
}
