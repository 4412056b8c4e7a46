//! The two entries: the whole of a program's `main`.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser};
use observation::Observation;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;

use crate::clock::{self, Clock};
use crate::command_line::{CommandLine, HarnessFlags};
use crate::describe::{self, Described, ELAPSED};
use crate::laps::{Instruments, REAL};
use crate::report::{self, Report};
use crate::{Placement, counters};

/// No parameters at all.
#[derive(clap::Args, serde::Serialize, Clone, Copy)]
pub struct Nothing {}

/// An operation that can be done again and again. The function is handed its parameters (every field is a flag of the same name), where its
/// threads may run, and a clock for its laps; it returns how many operations were done in all laps together, as counted by those who did
/// them, and the harness compares that with what the clock asked for.
pub fn repeat<P: Args + Serialize>(name: &str, program: impl FnOnce(P, Placement, Clock) -> Result<u64>) -> ExitCode {
    move_the_heap();
    let CommandLine { parameters, harness: flags } = CommandLine::<P>::parse();
    if flags.describe {
        return describe::print::<P>(name, &ELAPSED);
    }
    let observation = observe(name, parameters, &flags, |parameters, observation| {
        timed(parameters, &flags, REAL, observation, program)
    });
    report::print(observation, &flags)
}

/// An experiment that is done once per process. The function is handed its parameters, where its threads may run, and a report for what it
/// found, which it gives while everything that it found out about is still there. `measures` says what may be in it.
pub fn once<P: Args + Serialize>(
    name: &str,
    measures: &[Described],
    program: impl FnOnce(P, Placement, Report) -> Result<()>,
) -> ExitCode {
    let CommandLine { parameters, harness: flags } = CommandLine::<P>::parse();
    if flags.describe {
        return describe::print::<P>(name, measures);
    }
    let observation = observe(name, parameters, &flags, |parameters, observation| {
        program(parameters, flags.placement, Report::new(measures, &flags, observation))?;
        let reported = !(observation.measures.is_empty() && observation.unavailable.is_empty());
        ensure!(reported, "the program measured nothing");
        Ok(())
    });
    report::print(observation, &flags)
}

/// Begins an observation, lets the program fill it, and tells what this machine cannot run from what went wrong.
pub(crate) fn observe<P: Serialize>(
    name: &str,
    parameters: P,
    flags: &HarnessFlags,
    fill: impl FnOnce(P, &mut Observation) -> Result<()>,
) -> Result<Observation> {
    let mut observation = report::empty(name, &parameters, flags.placement)?;
    let prepare = || raise_descriptor_limit().and_then(|()| flags.placement.apply());
    match prepare().and_then(|()| fill(parameters, &mut observation)) {
        Ok(()) => Ok(observation),
        Err(error) => report::unavailable_or_failed(observation, error),
    }
}

pub(crate) fn timed<P>(
    parameters: P,
    flags: &HarnessFlags,
    instruments: Instruments,
    observation: &mut Observation,
    program: impl FnOnce(P, Placement, Clock) -> Result<u64>,
) -> Result<()> {
    clock::note_itself(observation, instruments);
    let mut asked = None;
    let done = program(parameters, flags.placement, Clock::new(flags, instruments, observation, &mut asked))?;
    let asked = asked.context("the program timed nothing")?;
    ensure!(done == asked, "{asked} operations were asked for and {done} were done");
    observation.unavailable.extend(counters::unavailable());
    Ok(())
}

/// Where the heap's blocks fall within cache lines would depend on how long the words of the command line are, the program's path among
/// them, and be the same in every round. What is kept here is as long as tally makes it, which differs from round to round.
fn move_the_heap() {
    std::mem::forget(std::env::var_os("ENVIRONMENT_PADDING"));
}

/// Raises the soft descriptor limit to the hard one.
fn raise_descriptor_limit() -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
