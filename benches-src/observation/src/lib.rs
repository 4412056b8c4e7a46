//! What one process reports about one cell: one line of JSON. Programs print it through the harness, tally keeps and
//! reads it, and nothing else is shared between what measures and what prints.
//!
//! The outer shape is a contract, for tests and for people who script it: fields are added, never renamed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one process observed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// `chapter/program`, which is also where its source lies.
    pub program: String,
    /// The program's parameters by name, defaults included.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// Where its threads were allowed to run: `one-cpu`, `two-cpus`, `free`.
    pub placement: String,
    /// Timed windows in the order in which they were taken; empty where time is not the point.
    #[serde(default)]
    pub samples: Vec<Window>,
    /// Named results that are not times, each with its unit.
    #[serde(default)]
    pub measures: BTreeMap<String, Measure>,
    /// Distributions of single operations, by name.
    #[serde(default)]
    pub histograms: BTreeMap<String, Histogram>,
    /// A sleep before the set-up: what the system-wide counters did while this program did nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_window: Option<Window>,
    /// From the end of the set-up to the last sample, warm-up included; holds the counters that are too dear to read per sample, and
    /// what the program itself has counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<Window>,
    /// What could not be measured or counted, and why. `elapsed` here means that the cell as a whole could not be run.
    #[serde(default)]
    pub unavailable: BTreeMap<String, String>,
    /// What the harness itself distrusts about these numbers.
    #[serde(default)]
    pub doubts: Vec<String>,
}

/// A stretch of time in which operations were done and counters ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Operations done in it.
    pub operations: u64,
    /// Its length on the monotonic clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// How far each counter moved. Names end in their unit, a plain name is a count, and `system_…` counts the whole machine.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
}

/// A named result with its unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// `ns`, `B`, or `1` for a plain count.
    pub unit: String,
    /// Every value observed, in order.
    pub values: Vec<f64>,
}

/// A distribution of single operations as counts per bucket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The unit of the buckets' bounds.
    pub unit: String,
    /// `[upper bound, count]`, ascending, empty buckets left out.
    pub buckets: Vec<(u64, u64)>,
}

/// What a program says it has, so that plans and pages can be held against it: what `--describe` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// `chapter/program`, which is also where its source lies.
    pub program: String,
    /// What a reader can vary, each a flag of the same name.
    pub parameters: Vec<DescribedParameter>,
    /// What its observations may hold.
    pub measures: Vec<DescribedMeasure>,
}

/// A parameter of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DescribedParameter {
    /// As observations and plans have it.
    pub name: String,
    /// What it is where nobody says anything.
    pub default: Option<String>,
    /// The words it may be, if they are few; empty where it is a number.
    pub values: Vec<String>,
    /// What it means.
    pub means: String,
}

/// A measure of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DescribedMeasure {
    /// Its name; one that ends in `*` stands for all that begin so.
    pub name: String,
    /// `ns`, `B`, or `1` for a plain count.
    pub unit: String,
    /// What it says.
    pub means: String,
}
