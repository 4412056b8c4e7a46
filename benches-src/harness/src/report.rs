//! How an observation is begun, doubted and printed: one line of JSON for tally, a few readable lines for a person.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use observation::{Measure, Observation, Window};

use crate::command_line::HarnessFlags;
use crate::{Described, Placement, Unavailable};

/// What a program found that is its own measurement.
#[derive(Debug, Default)]
pub struct Findings {
    /// The results by name. Each has a value at least.
    pub measures: BTreeMap<String, Measure>,
    /// What there is to distrust about these results. What stands before the colon is the same in every process that has the doubt.
    pub doubts: Vec<String>,
    /// The results that this machine does not give, and why.
    pub unavailable: BTreeMap<String, String>,
}

impl From<BTreeMap<String, Measure>> for Findings {
    fn from(measures: BTreeMap<String, Measure>) -> Self {
        Self { measures, ..Self::default() }
    }
}

/// Takes down what a program found. It is used up by that: a program finds things out once.
pub struct Report<'a> {
    described: &'a [Described],
    flags: &'a HarnessFlags,
    observation: &'a mut Observation,
}

impl<'a> Report<'a> {
    pub(crate) fn new(described: &'a [Described], flags: &'a HarnessFlags, observation: &'a mut Observation) -> Self {
        Self { described, flags, observation }
    }

    /// Gives the findings, while what they are about is still there: `--command` runs now. An error where a measure has no value, or is not
    /// as the program describes it.
    pub fn give(self, findings: impl Into<Findings>) -> Result<()> {
        let Findings { measures, doubts, unavailable } = findings.into();
        for (name, measure) in &measures {
            ensure!(!measure.values.is_empty(), "measure {name} has no value");
            let known = self.described.iter().any(|own| own.is_of(name) && own.unit == measure.unit);
            ensure!(known, "the program describes no measure {name} in {}", measure.unit);
        }
        self.observation.measures = measures;
        self.observation.doubts = doubts;
        self.observation.unavailable = unavailable;
        self.flags.run_command()
    }
}

/// An observation that says what is about to be measured.
pub fn empty(name: &str, parameters: &[u8], placement: Placement) -> Result<Observation> {
    let parameters: BTreeMap<_, _> =
        serde_json::from_slice(parameters).context("the parameters of a program are a struct with named fields")?;
    Ok(Observation { program: name.to_owned(), parameters, placement: placement.name(), ..Observation::default() })
}

/// A cell that this machine cannot run is an observation too; anything else that goes wrong is a failure.
pub fn unavailable_or_failed(mut observation: Observation, error: anyhow::Error) -> Result<Observation> {
    let reason = Unavailable::reason_of(&error).ok_or(error)?;
    observation.unavailable.insert("elapsed".to_owned(), reason);
    Ok(observation)
}

/// What there is to distrust about samples, given what one reading of the clock costs. What stands before the colon is the
/// same in every process that has the doubt.
pub fn doubts(samples: &[Window], clock_cost_ns: f64) -> Vec<String> {
    const STEADY_WITHIN: f64 = 0.05;
    let mut doubts = Vec::new();
    let shortest = samples.iter().map(|s| s.elapsed_ns).min().unwrap_or(0) as f64;
    if shortest < 1000.0 * clock_cost_ns {
        doubts.push(format!(
            "short samples: the shortest ({shortest} ns) is less than 1000 times the cost of reading the clock ({clock_cost_ns:.0} ns)"
        ));
    }
    let third = samples.len() / 3;
    if third > 0 {
        let per_operation = |part: &[Window]| middle(part.iter().map(nanoseconds_per_operation).collect());
        let (first, last) = (per_operation(&samples[..third]), per_operation(&samples[samples.len() - third..]));
        if (first / last).ln().abs() > STEADY_WITHIN {
            doubts.push(format!(
                "no steady state: the first third of the samples took {first:.1} ns per operation, the last third {last:.1} ns"
            ));
        }
    }
    let steal: u64 = samples.iter().filter_map(|s| s.counters.get("system_steal_ticks")).sum();
    if steal > 0 {
        doubts.push(format!("stolen CPU time: the hypervisor took {steal} clock ticks away while sampling"));
    }
    doubts
}

/// Prints an observation as the flags ask and says whether all went well.
pub fn print(observation: Result<Observation>, flags: &HarnessFlags) -> ExitCode {
    let printed = observation.and_then(|observation| match flags {
        HarnessFlags { quiet: true, .. } => Ok(String::new()),
        HarnessFlags { json: true, .. } => Ok(serde_json::to_string(&observation)? + "\n"),
        HarnessFlags { once: true, .. } => Ok(checked(&observation)),
        _ => Ok(readable(&observation)),
    });
    write(printed)
}

/// Writes a text to standard output, or says why there is none.
pub fn write(text: Result<String>) -> ExitCode {
    let written = |text: String| std::io::stdout().write_all(text.as_bytes());
    match text.and_then(|text| written(text).context("the result cannot be written to standard output")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn checked(observation: &Observation) -> String {
    let operations: u64 = observation.samples.iter().map(|s| s.operations).sum();
    match observation.unavailable.get("elapsed") {
        Some(reason) => format!("unavailable, because {reason}\n"),
        None if operations > 0 => format!("{} operations done and counted\n", operations),
        None => "done\n".to_owned(),
    }
}

/// A few lines for a person, in the manner of the programs that this book grew from.
fn readable(observation: &Observation) -> String {
    let mut lines = vec![format!(
        "{} {} placement={}",
        observation.program,
        observation.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "),
        observation.placement
    )];
    if let Some(reason) = observation.unavailable.get("elapsed") {
        lines.push(format!("unavailable, because {reason}"));
    } else if !observation.samples.is_empty() {
        lines.extend(timing(&observation.samples));
    }
    for (name, measure) in &observation.measures {
        lines.push(format!("{name}: {:?} {}", measure.values, measure.unit));
    }
    if observation.samples.is_empty() {
        let of_one = observation.unavailable.iter().filter(|(name, _)| *name != "elapsed");
        lines.extend(of_one.map(|(name, reason)| format!("{name}: unavailable, because {reason}")));
    }
    lines.extend(observation.doubts.iter().map(|doubt| format!("doubt: {doubt}")));
    lines.join("\n") + "\n"
}

fn timing(samples: &[Window]) -> Vec<String> {
    let mut each: Vec<f64> = samples.iter().map(nanoseconds_per_operation).collect();
    each.sort_by(f64::total_cmp);
    let (least, most) = (each[0], each[each.len() - 1]);
    let operations: u64 = samples.iter().map(|s| s.operations).sum();
    let count = format!("{} samples, {operations} operations", samples.len());
    vec![count, format!("median {:.1} ns, from {least:.1} to {most:.1} ns, in this one process", middle(each))]
}

fn nanoseconds_per_operation(sample: &Window) -> f64 {
    sample.elapsed_ns as f64 / sample.operations as f64
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (half, even) = (values.len() / 2, values.len().is_multiple_of(2));
    if even { (values[half - 1] + values[half]) / 2.0 } else { values[half] }
}
