//! The calculator: what threads and tasks would cost a service that a reader describes, from
//! records and a few formulas.
//!
//! Settings, inputs, formulas, worked cases and the words of the answers are data
//! (`calculator.toml` of a chapter), which the page's script gets as well: it computes the same and
//! says the same. A formula has one measured input, once, and grows with it: so the ends of the
//! input's interval give those of the output's, and nothing has to be assumed about distributions.
//!
//! It is the book's one rule on threads or tasks: the front page's advice and the findings that
//! conclude ask it for a worked case.

pub mod answers;
mod formulas;
pub mod numbers;
pub mod words;
mod wrong;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::book::expression::{Expression, Operator};
use crate::book::plan::Plans;
use crate::book::quantities::Asked;
use crate::compute::quantity::Missing;
use crate::project::Project;
use crate::statistics::Estimate;
pub use formulas::Formula;
use words::Sentences;

/// A chapter's `calculator.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calculator {
    #[serde(skip)]
    pub chapter: String,
    #[serde(rename = "setting")]
    pub settings: Vec<Setting>,
    /// What follows from the settings alone.
    #[serde(default)]
    pub derived: Vec<Derived>,
    /// What is taken from records.
    #[serde(rename = "input")]
    pub inputs: Vec<Input>,
    /// What threads must keep to if they are to do.
    #[serde(rename = "bound")]
    pub bounds: Vec<Bound>,
    #[serde(rename = "output")]
    pub outputs: Vec<Output>,
    /// The words of the answers.
    pub sentences: Sentences,
    /// Worked cases; the first is where a reader begins.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// A number that describes a service.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What formulas and addresses call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    #[serde(default)]
    pub note: String,
    /// The unit in which it is set; none for a plain number.
    #[serde(default)]
    pub unit: String,
    /// How many seconds or bytes one of its unit is.
    #[serde(default = "one")]
    pub size: f64,
    /// Whether it is a whole number.
    #[serde(default)]
    pub whole: bool,
    /// The least that it can be.
    pub least: f64,
    pub most: f64,
}

fn one() -> f64 {
    1.0
}

/// A number that follows from settings.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    pub formula: Formula,
}

/// What is measured of threads and of tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// The setting along which it was measured, at several numbers of it.
    #[serde(default)]
    pub along: Option<String>,
    /// What it may stand for: the first, unless a case says which; or the points along a setting.
    #[serde(rename = "option")]
    pub options: Vec<Choice>,
}

/// A pair of rivals in one experiment's record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    pub note: String,
    /// At which number of the setting along which its input was measured.
    #[serde(default)]
    pub at: Option<f64>,
    /// The experiment whose record has both.
    pub experiment: String,
    pub thread: String,
    pub task: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// What scripts call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    pub unit: Unit,
    /// For which of the input's quantities.
    #[serde(default)]
    pub of: Of,
    /// From settings and one input.
    pub formula: Formula,
    /// The name of what threads must keep to.
    #[serde(default)]
    pub bound: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Unit {
    #[serde(rename = "cores")]
    Cores,
    /// Memory, in bytes, which is said in GiB.
    #[serde(rename = "GiB")]
    Gibibytes,
    /// Threads, tasks, or what limits them.
    #[serde(rename = "")]
    Number,
}

/// Which quantities an output is computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// For threads and for tasks, side by side.
    #[default]
    Each,
    /// For what a thread takes beyond a task.
    Extra,
}

/// A bound that outputs are held against.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    #[serde(default)]
    pub kind: Kind,
    /// From settings alone; the largest counts,
    pub limits: Vec<Formula>,
    /// but never more than this.
    #[serde(default)]
    pub cap: Option<Formula>,
    /// Whether the output must be at least or at most so much.
    pub at: At,
    /// The setting that is asked about where the answer could be another.
    pub lever: String,
    /// What is said where the whole interval keeps to it,
    pub kept: String,
    /// where it does and lies below 0,
    #[serde(default)]
    pub kept_below_0: Option<String>,
    /// where the whole interval lies beyond it,
    pub broken: String,
    /// and where it lies within the interval.
    pub between: String,
}

/// What a bound is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A price, which decides whether threads would do.
    #[default]
    Decides,
    /// A setting of the machine, which a command changes.
    Raised,
    /// Beyond it the case cannot be.
    Sense,
    /// What a pool of threads takes, which decides nothing.
    Pool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    Most,
    Least,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Case {
    pub name: String,
    /// The input that takes a task what a request of it does: one core then answers such requests,
    /// and nothing else.
    #[serde(default, skip_serializing)]
    pub like: Option<String>,
    /// Numbers of settings, each in the setting's own unit.
    #[serde(flatten)]
    pub values: BTreeMap<String, f64>,
    /// Options that were asked for by name, by input.
    #[serde(skip)]
    pub asked: BTreeMap<String, String>,
}

/// Whose quantity a value was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    Thread,
    Task,
    /// A thread's beyond a task's.
    Extra,
}

impl Who {
    /// A word for scripts and colours.
    pub fn word(self) -> &'static str {
        match self {
            Who::Thread => "thread",
            Who::Task => "task",
            Who::Extra => "extra",
        }
    }
}

/// A number in seconds, bytes or plainly.
pub type Value = Result<Estimate, Missing>;

impl Calculator {
    /// The calculator of the chapter that has one.
    pub fn load(project: &Project) -> Result<Self> {
        let path = project.calculator()?.context("no chapter has a calculator.toml")?;
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let data: Self = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        data.is_derived().with_context(|| format!("in {}", path.display()))?;
        let folder = path.parent().and_then(Path::file_name).context("a calculator lies in its chapter's folder")?;
        Ok(Self { chapter: folder.to_string_lossy().into_owned(), ..data })
    }

    /// A setting by its name.
    pub fn setting(&self, name: &str) -> Result<&Setting> {
        self.settings.iter().find(|setting| setting.name == name).with_context(|| format!("unknown setting {name:?}"))
    }

    /// A worked case by its name.
    pub fn case(&self, name: &str) -> Result<&Case> {
        let known = || self.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ");
        let found = self.cases.iter().find(|case| case.name == name);
        found.with_context(|| format!("the calculator has no case {name:?}; there are: {}", known()))
    }

    /// What an output is held against.
    pub fn bound_of(&self, output: &Output) -> Result<Option<&Bound>> {
        let Some(name) = &output.bound else { return Ok(None) };
        let found = self.bounds.iter().find(|bound| bound.name == *name);
        found.with_context(|| format!("unknown bound {name:?}")).map(Some)
    }
}

impl Output {
    /// What it is computed for.
    pub fn whose(&self) -> &'static [Who] {
        match self.of {
            Of::Each => &[Who::Thread, Who::Task],
            Of::Extra => &[Who::Extra],
        }
    }
}

impl Input {
    /// Which of its options can be taken without being asked for by name.
    pub fn reachable(&self) -> impl Iterator<Item = &Choice> {
        self.options.iter().take(if self.along.is_some() { usize::MAX } else { 1 })
    }
}

impl Choice {
    pub fn asked<'a>(&self, plans: &'a Plans, who: Who) -> Result<Asked<'a>> {
        let asked = |text: &str| plans.asked(text, Some(&self.experiment));
        let (thread, task) = (asked(&self.thread)?, asked(&self.task)?);
        Ok(match who {
            Who::Thread => thread,
            Who::Task => task,
            Who::Extra => {
                let expression = Expression::binary(thread.expression, Operator::Minus, task.expression);
                Asked { expression, ..task }
            }
        })
    }
}

impl Case {
    /// The number of a setting, in the setting's own unit.
    pub fn number_of(&self, name: &str) -> Result<f64> {
        self.values.get(name).copied().with_context(|| format!("{name} is not set"))
    }

    /// A number of one's own.
    pub fn with(&self, name: &str, value: f64) -> Self {
        let mut case = self.clone();
        case.values.insert(name.to_owned(), value);
        case
    }

    /// The end of an address that leads to the calculator with these numbers in it.
    pub fn address(&self, data: &Calculator) -> Result<String> {
        let pair = |setting: &Setting| Ok(format!("{}={}", setting.name, self.number_of(&setting.name)?));
        Ok(data.settings.iter().map(pair).collect::<Result<Vec<_>>>()?.join("&"))
    }

    /// The numbers of an address, as the page writes it: `connections=200&requests=1000`.
    pub fn with_address(mut self, data: &Calculator, address: &str) -> Result<Self> {
        for pair in address.trim_start_matches('#').split('&') {
            let (name, number) = pair.split_once('=').with_context(|| format!("{pair:?} is no name=number"))?;
            let number: f64 = number.parse().with_context(|| format!("{name} is no number: {number:?}"))?;
            self.values.insert(data.setting(name)?.name.clone(), number);
        }
        data.is_within(&self).map(|()| self)
    }
}

#[cfg(test)]
mod tests;
