//! The lines of a record, as they stand on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Result;
use observation::{Histogram, Measure, Observation, Window};
use serde::{Deserialize, Serialize};

use super::checksum::{with_sum, without_sum};
use super::machine::{Facts, State};
use super::names::{Named, named, object};
use super::samples::Columns;
use super::seen::Seen;
use super::sources::Sources;
use crate::book::cell::Cell;

/// The version of the format; others are refused, with the way out.
pub const FORMAT: u32 = 3;

/// How much was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// One round of a few laps: shows that everything works; no page prints its figures as results
    Test,
    /// Six rounds of the quick grid
    Quick,
    /// Twenty rounds of the full grid, or ten of what takes long
    Full,
}

impl Effort {
    /// As it is set and printed.
    pub fn word(self) -> &'static str {
        match self {
            Effort::Test => "test",
            Effort::Quick => "quick",
            Effort::Full => "full",
        }
    }
}

/// A line of a record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// What was about to be measured, and where.
    Header(Box<Header>),
    /// One process.
    Run(Box<RawRun>),
    /// How the session ended.
    End(Box<End>),
}

impl Line {
    /// Appends it at once and with its sum, so that what is cut off is the end of one line.
    pub(super) fn write(&self, to: &mut impl Write) -> Result<()> {
        let text = with_sum(&serde_json::to_string(self)?) + "\n";
        Ok(to.write_all(text.as_bytes())?)
    }

    /// Reads a line of a record, whose sum it has to come to.
    pub fn read(line: &str) -> Result<Self> {
        Ok(serde_json::from_str(&without_sum(line)?)?)
    }
}

/// What was about to be measured, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// See [`FORMAT`].
    pub format: u32,
    /// The chapter.
    pub chapter: String,
    /// The experiment.
    pub experiment: String,
    /// How much was to be measured.
    pub effort: Effort,
    /// Of the order of cells within rounds.
    pub seed: u64,
    /// The cells of every round.
    pub cells: Vec<Cell>,
    /// Hashes of what was measured.
    pub sources: Sources,
    /// The programs that ran, by name, and the libraries that were loaded before the C library's,
    /// by the loader's name: the first 16 hexadecimal digits of a SHA-256 of each one's file. The
    /// oldest records lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<BTreeMap<String, String>>,
    /// The revision of the checkout, with `+` where files differed from it.
    pub revision: Option<String>,
    /// The machine.
    pub machine: Facts,
    /// The machine's state before the first round.
    pub before: State,
}

impl Header {
    /// The day on which it was begun.
    pub fn day(&self) -> &str {
        self.before.day()
    }
}

/// The days on which these were measured, from the first to the last.
pub fn days<'a>(records: impl IntoIterator<Item = &'a Header>) -> String {
    let days: BTreeSet<&str> = records.into_iter().map(Header::day).collect();
    match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.copied().unwrap_or_default().to_owned(),
    }
}

/// The efforts with which they were measured. A quick build may have some records that are full:
/// then each with how many it has.
pub fn efforts<'a>(records: impl IntoIterator<Item = &'a Header>) -> String {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record.effort).or_insert(0) += 1;
    }
    match Vec::from_iter(counts)[..] {
        [(effort, _)] => effort.word().to_owned(),
        ref several => {
            let each = several.iter().rev().map(|(effort, count)| {
                let experiments = if *count == 1 { "experiment" } else { "experiments" };
                format!("{} ({count} {experiments})", effort.word())
            });
            each.collect::<Vec<_>>().join(" and ")
        }
    }
}

/// Words, each once, in order, with commas.
pub fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// One process, with what its observation comes to.
pub type Run = RunOf<Seen>;

/// One process, with its observation as it is written down.
pub type RawRun = RunOf<Raw>;

/// One process: an observation or how it failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOf<T> {
    /// Counted from 0. A round that was interrupted keeps its number and is followed by a new one.
    pub round: u32,
    /// Index into the header's cells.
    pub cell: usize,
    /// Bytes of padding in the environment: they move the stack, and vary from round to round.
    pub environment_bytes: usize,
    /// The order of its functions in memory, where the program was linked anew for this round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_order: Option<u32>,
    /// How long it took in milliseconds, with what counts or spins beside it. Records that were
    /// made before this was noted down lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// How long a line of memory took from the first CPU that it might use to the second, right
    /// before it started, in nanoseconds; see `measure::core_to_core`. Nothing where there
    /// is no second, and in records that were made before this was noted down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_to_core_ns: Option<u64>,
    /// The machine's state before it, where it is the first after an interruption of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<State>,
    /// What the process reported.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    pub observation: Option<T>,
    /// Or how it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

fn nothing<T>() -> Option<T> {
    None
}

impl From<RawRun> for Run {
    fn from(raw: RawRun) -> Self {
        let RawRun { round, cell, environment_bytes, link_order, took_ms, core_to_core_ns, resumed, failure, .. } = raw;
        let observation = raw.observation.map(Seen::of);
        Self { round, cell, environment_bytes, link_order, took_ms, core_to_core_ns, resumed, observation, failure }
    }
}

/// An observation as a record keeps it: each field as it was printed, but for its samples, which
/// are in columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    pub program: String,
    #[serde(with = "object")]
    pub parameters: Named<serde_json::Value>,
    pub placement: String,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    pub samples: Columns,
    #[serde(default, with = "object")]
    pub measures: Named<Measure>,
    #[serde(default, with = "object")]
    pub histograms: Named<Histogram>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_window: Option<Window>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<Window>,
    #[serde(default, with = "object")]
    pub unavailable: Named<String>,
    #[serde(default)]
    pub doubts: Vec<String>,
}

impl From<Observation> for Raw {
    fn from(printed: Observation) -> Self {
        Self {
            program: printed.program,
            parameters: named(printed.parameters),
            placement: printed.placement,
            samples: Columns::of(&printed.samples),
            measures: named(printed.measures),
            histograms: named(printed.histograms),
            idle_window: printed.idle_window,
            whole_run: printed.whole_run,
            unavailable: named(printed.unavailable),
            doubts: printed.doubts,
        }
    }
}

/// How a process failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `exit status 1`, `signal 9`, `no answer within 60 s`, …
    pub exit: String,
    /// The last lines it wrote to standard error.
    pub last_lines: Vec<String>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The machine's state after the last round.
    pub after: State,
    /// Half the width of the headline's interval over its median, if it could be computed.
    pub headline_half_width: Option<f64>,
    /// What that was to be at most.
    pub target: f64,
    /// Whether the rounds were doubled because the target was missed at the declared look.
    pub doubled: bool,
    /// What of the machine was set otherwise since the header: by name, as it is at the end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<String, String>,
}
