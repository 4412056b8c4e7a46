//! What a program says it has, so that plans and pages can be held against it: `--describe`.

use std::process::ExitCode;

use clap::Command;
use observation::{DescribedMeasure, DescribedParameter, Description};

use crate::report;

/// A measure that a program may report.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Its name; one that ends in `*` stands for all that begin so.
    pub name: &'static str,
    /// `ns`, `B`, or `1` for a plain count.
    pub unit: &'static str,
    /// What it says, of this process unless it says of what.
    pub means: &'static str,
}

/// A measure by name, unit and meaning.
pub const fn described(name: &'static str, unit: &'static str, means: &'static str) -> Described {
    Described { name, unit, means }
}

/// What every program reports whose operation is timed.
pub const ELAPSED: [Described; 3] = [
    described("elapsed", "ns", "the time of one operation, by the median sample"),
    described("clock_resolution", "ns", "the monotonic clock's stated resolution"),
    described("clock_cost", "ns", "the time that one reading of the clock takes"),
];

impl Described {
    /// Whether it describes the measure of this name.
    pub fn is_of(&self, name: &str) -> bool {
        self.name.strip_suffix('*').map_or(self.name == name, |begin| name.starts_with(begin))
    }
}

/// Prints what a program has as one line of JSON.
pub fn print(name: &str, with_parameters: fn(Command) -> Command, measures: &[Described]) -> ExitCode {
    let description = Description {
        program: name.to_owned(),
        parameters: parameters(with_parameters),
        measures: measures.iter().map(measure).collect(),
    };
    report::write(serde_json::to_string(&description).map(|line| line + "\n").map_err(anyhow::Error::from))
}

fn measure(own: &Described) -> DescribedMeasure {
    DescribedMeasure { name: own.name.to_owned(), unit: own.unit.to_owned(), means: own.means.to_owned() }
}

/// As the command line has them.
fn parameters(with_parameters: fn(Command) -> Command) -> Vec<DescribedParameter> {
    let command = with_parameters(Command::new("parameters"));
    let described = |argument: &clap::Arg| {
        let words = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
        DescribedParameter {
            // Flags have hyphens where fields, and so records and plans, have underscores.
            name: argument.get_id().to_string(),
            default: argument.get_default_values().first().map(|word| words(word)),
            values: argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
            means: argument.get_help().map_or(String::new(), ToString::to_string),
        }
    };
    command.get_arguments().map(described).collect()
}
