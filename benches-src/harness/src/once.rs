//! The entry for an experiment that is its own measurement.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, Parser};
use observation::{Measure, Observation};
use serde::Serialize;

use crate::command_line::{CommandLine, HarnessFlags};
use crate::resources::raise_descriptor_limit;
use crate::{Placement, report};

/// An experiment that is done once per process and returns its results.
pub trait Once: Sized {
    /// What a reader can vary; every field is a flag of the same name.
    type Parameters: Args + Serialize;

    /// Builds what is to be measured, and keeps it alive.
    fn set_up(parameters: &Self::Parameters, placement: Placement) -> Result<Self>;

    /// The results by name. At least one, each with at least one value.
    fn measure(&mut self) -> Result<BTreeMap<String, Measure>>;

    /// What there is to distrust about these results, asked for after they were measured. What stands before the colon is the
    /// same in every process that has the doubt.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The results that this machine does not give, and why.
    fn unavailable(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

/// The whole of a program's `main`.
pub fn once<O: Once>(name: &str) -> ExitCode {
    let CommandLine { parameters, harness: flags } = CommandLine::<O::Parameters>::parse();
    let observation = observe::<O>(name, &parameters, &flags);
    report::print(observation, &flags)
}

fn observe<O: Once>(name: &str, parameters: &O::Parameters, flags: &HarnessFlags) -> Result<Observation> {
    let mut observation = report::empty(name, parameters, flags.placement)?;
    match measure::<O>(parameters, flags, &mut observation) {
        Ok(()) => Ok(observation),
        Err(error) => report::unavailable_or_failed(observation, error),
    }
}

fn measure<O: Once>(parameters: &O::Parameters, flags: &HarnessFlags, observation: &mut Observation) -> Result<()> {
    raise_descriptor_limit()?;
    flags.placement.apply()?;
    let mut subject = O::set_up(parameters, flags.placement)?;
    let measures = subject.measure()?;
    ensure!(!measures.is_empty(), "the program measured nothing");
    for (name, measure) in &measures {
        ensure!(!measure.values.is_empty(), "measure {name} has no value");
    }
    flags.run_command()?;
    observation.measures = measures;
    observation.doubts = subject.doubts();
    observation.unavailable = subject.unavailable();
    Ok(())
}
