//! The calculator: what threads and tasks would cost a service that a reader describes, from records and a few formulas.
//!
//! Settings, inputs, formulas and worked cases are data (`calculator.toml` of a chapter); the table and the live view are both made
//! from the same formulas. A formula has one measured input, once, and grows with it: so the ends of the input's interval give
//! those of the output's, and nothing has to be assumed about distributions.

mod answers;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::book::expression::{Expression, Operator};
use crate::book::plan::Plans;
use crate::book::quantities::Asked;
use crate::book::unit::Unit;
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::view::View;
use crate::project::Project;
use crate::statistics::Estimate;

/// A chapter's `calculator.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calculator {
    /// Whose it is.
    #[serde(skip)]
    pub chapter: String,
    /// What a reader sets.
    #[serde(rename = "setting")]
    pub settings: Vec<Setting>,
    /// What is taken from records.
    #[serde(rename = "input")]
    pub inputs: Vec<Input>,
    /// What is computed.
    #[serde(rename = "output")]
    pub outputs: Vec<Output>,
    /// Worked cases; the first is where a reader begins.
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// A number that describes a service.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What formulas call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// The unit in which it is set: none, `µs`, `ms` or `GiB`.
    pub unit: String,
    /// Where its slider begins.
    pub least: f64,
    /// Where its slider ends.
    pub most: f64,
}

/// What is measured of threads and of tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What formulas call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// What it may stand for. Where there are several, a case says which.
    #[serde(rename = "option")]
    pub options: Vec<Choice>,
}

/// A pair of rivals in one experiment's record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What cases and flags call it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// What exactly it is.
    pub note: String,
    /// The experiment whose record has both.
    pub experiment: String,
    /// The thread's quantity.
    pub thread: String,
    /// The task's.
    pub task: String,
}

/// What is computed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// What the live view calls it.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// What it counts, and so on which axis it stands.
    pub panel: Panel,
    /// For which of the input's quantities.
    #[serde(default)]
    pub of: Of,
    /// From settings and one input.
    pub formula: String,
    /// What threads must keep to if they are to do.
    #[serde(default)]
    pub bound: Option<Bound>,
}

/// What an output counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panel {
    /// CPU time per time.
    Cores,
    /// Parts of something.
    Shares,
    /// Memory.
    Bytes,
    /// Time, in seconds.
    Time,
    /// Threads, tasks, or what limits them.
    Number,
}

/// Which quantities an output is computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// For threads and for tasks, side by side.
    #[default]
    Each,
    /// For what a thread takes beyond a task.
    Extra,
}

/// A bound that an output is held against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// From settings alone.
    pub formula: String,
    /// Whether the output must be at least or at most so much.
    pub at: At,
    /// What speaks against threads where it is not, in a word or two.
    pub objection: String,
    /// What the bound is, in a word or two.
    pub label: String,
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// At most so much.
    Most,
    /// At least so much.
    Least,
}

/// A service.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    /// What it is.
    pub name: String,
    /// Numbers of settings, in the setting's own unit, and words for inputs that have several options.
    #[serde(flatten)]
    pub values: BTreeMap<String, toml::Value>,
}

/// Whose quantity a value was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A thread's.
    Thread,
    /// A task's.
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

/// How an output stands to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The whole interval keeps to it.
    Kept,
    /// The bound lies within the interval, or there is none.
    Undecided,
    /// The whole interval lies beyond it.
    Broken,
}

/// An output's number, in seconds, bytes or plainly.
pub type Value = Result<Estimate, Missing>;

/// Would a thread per connection do?
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// It keeps to every bound.
    Yes,
    /// It breaks these.
    No(Vec<String>),
    /// These are not decided.
    Undecided(Vec<String>),
    /// These are not known, for want of a number.
    Unknown(Vec<String>),
}

impl Answer {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Answer::Yes => "yes".to_owned(),
            Answer::No(what) => format!("no: {}", what.join(", ")),
            Answer::Undecided(what) => format!("undecided: {}", what.join(", ")),
            Answer::Unknown(what) => format!("not known: {}", what.join(", ")),
        }
    }
}

impl Setting {
    /// Its label without what explains it, which stands behind a comma.
    pub fn short(&self) -> &str {
        self.label.split(',').next().unwrap_or(&self.label)
    }

    /// What its slider can be set to: eight steps to a factor of ten.
    pub fn steps(&self) -> Vec<f64> {
        let mut steps = Vec::new();
        for decade in -3..=7 {
            for digit in SERIES {
                let value = digit * 10f64.powi(decade);
                if value >= self.least * (1.0 - 1e-9) && value <= self.most * (1.0 + 1e-9) {
                    steps.push(value);
                }
            }
        }
        steps
    }

    /// How many seconds or bytes one of its unit is.
    pub fn size(&self) -> Result<f64> {
        Ok(match self.unit.as_str() {
            "" => 1.0,
            "µs" => 1e-6,
            "ms" => 1e-3,
            "GiB" => 1_073_741_824.0,
            unknown => bail!("setting {}: unknown unit {unknown:?}; there are: µs, ms, GiB, and none", self.name),
        })
    }
}

/// Round numbers, about a quarter apart.
pub const SERIES: [f64; 8] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];

impl Output {
    /// What it is computed for.
    pub fn whose(&self) -> &'static [Who] {
        match self.of {
            Of::Each => &[Who::Thread, Who::Task],
            Of::Extra => &[Who::Extra],
        }
    }

    /// Its formula, read.
    pub fn expression(&self) -> Result<Expression> {
        Expression::parse(&self.formula).with_context(|| format!("output {}", self.name))
    }
}

impl Choice {
    /// Somebody's quantity.
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

    /// The same on the machine that is shown.
    pub fn measured(&self, view: &View, who: Who) -> Result<Measured> {
        view.evaluate(&self.asked(&view.plans, who)?)
    }

    /// The same as formulas take it. What cannot be told from nothing is not called a difference.
    pub fn value(&self, view: &View, who: Who) -> Result<Value> {
        Ok(match self.measured(view, who)? {
            Err(missing) => Err(missing),
            Ok(quantity) if who == Who::Extra => self.beyond_noise(&quantity).map(|()| in_formulas(&quantity)),
            Ok(quantity) => Ok(in_formulas(&quantity)),
        })
    }

    /// Whether a difference may be called one.
    fn beyond_noise(&self, difference: &Quantity) -> Result<(), Missing> {
        let Self { thread, task, experiment, .. } = self;
        match difference.judged() {
            Some((low, high)) if low > 0.0 || high < 0.0 => Ok(()),
            Some(_) => Err(Missing::new("within noise", format!("{thread} - {task} cannot be told from nothing"))),
            None => Err(Missing::new("noise not known", format!("{experiment} has too few rounds for an interval"))),
        }
    }
}

/// An input in seconds, bytes or plainly, as formulas take it.
fn in_formulas(quantity: &Quantity) -> Estimate {
    let size = if quantity.unit == Unit::Nanoseconds { 1e-9 } else { 1.0 };
    let Estimate { median, interval, rounds } = quantity.estimate;
    Estimate { median: median * size, interval: interval.map(|(low, high)| (low * size, high * size)), rounds }
}

#[cfg(test)]
mod tests;
