//! What is said of each program once: what charts and tables call it, which colour it has, what
//! stands in for its input and output, and the parameters that its cells share.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::book::{cell, plan_file};
use crate::name::{self, nearest};
use crate::project::Project;

/// What is said of each program of a chapter, once.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// The programs that no experiment runs, since another program starts them: `tools = ["load"]`.
    /// They have no entry below.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Each program that experiments run, by the name of its file in `src/bin`: `thread-pipe = {
    /// label = "threads over a pipe", series = "thread" }`.
    #[serde(default, rename = "program")]
    programs: BTreeMap<String, Program>,
    /// How the values of a parameter read in charts and tables, by the parameter's name: words in
    /// which `{}` stands for the value, or a table with words for each value. One without an entry
    /// reads as it is.
    #[serde(default, rename = "parameter")]
    pub(super) parameters: BTreeMap<String, Reading>,
    /// What the axis of a figure over a parameter is called:
    /// `axis = { touch_bytes = "bytes of data in each" }`. One without an entry goes by its name.
    #[serde(default, rename = "axis")]
    pub(super) axes: BTreeMap<String, String>,
}

/// A program that experiments run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// What charts and tables call it, such as `"threads over a pipe"`. No two rows of a figure may
    /// be called the same.
    pub label: String,
    /// What it stands for, which decides its colour in every figure.
    pub series: Series,
    /// The program that does the same input and output without any switch, such as `"loop-pipe"`.
    /// Where an experiment runs that as well, its table and its stack show what remains beyond it.
    #[serde(default)]
    pub baseline: Option<String>,
    /// The programs of its chapter that it starts, whose code decides its numbers as well: `starts
    /// = ["load"]`.
    #[serde(default)]
    pub starts: Vec<String>,
    /// What its cells share, as a grid says it: `defaults = { hops = 500 }`. An experiment that
    /// says the same parameter overrides it.
    #[serde(default)]
    pub defaults: BTreeMap<String, Value>,
}

/// What a program stands for in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Series {
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

impl Series {
    /// The word for it, and for its colour.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Task => "task",
            Self::Executor => "executor",
            Self::Baseline => "baseline",
            Self::Coroutine => "coroutine",
        }
    }
}

/// How the values of a parameter read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reading {
    /// Words in which `{}` stands for the value; none where a reader need not know it.
    Sentence(String),
    /// Words for each value; one that has none reads as it is.
    Each(BTreeMap<String, String>),
}

impl Programs {
    /// Reads a chapter's programs; it may have none.
    pub fn load(project: &Project, chapter: &str) -> Result<Self> {
        let path = project.programs_of(chapter);
        let programs: Self = plan_file::read_if_any(project, &path)?;
        programs.check().with_context(|| project.place(&path))?;
        Ok(programs)
    }

    fn check(&self) -> Result<()> {
        for (name, program) in &self.programs {
            name::check(name, "a program")?;
            ensure!(!self.tools.contains(name), "{name} is one of the tools, and so has no entry");
            if let Some(baseline) = &program.baseline {
                ensure!(self.programs.contains_key(baseline), "{name}: {}", self.unknown(baseline, "baseline"));
            }
            for (parameter, value) in &program.defaults {
                ensure!(
                    cell::is_parameter(parameter) && !value.is_array() && !value.is_object(),
                    "{name}: {parameter} = {value} is no default; defaults are parameters, each with one value"
                );
            }
        }
        Ok(())
    }

    /// The program of this name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.get(name)
    }

    /// Every program that has an entry, by name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    /// A program, and those that it starts.
    pub fn with_started(&self, name: &str) -> BTreeSet<String> {
        let started = self.programs.get(name).into_iter().flat_map(|program| program.starts.iter());
        [name].into_iter().map(str::to_owned).chain(started.cloned()).collect()
    }

    /// What a reader calls a program.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        self.programs.get(name).map_or(name, |program| &program.label)
    }

    /// What is said of a name that is none.
    pub(super) fn unknown(&self, name: &str, what: &str) -> String {
        let near = nearest(name, self.names()).map_or(String::new(), |near| format!("; did you mean {near}?"));
        format!("unknown {what} {name:?}: it has no entry in programs.toml{near}")
    }
}
