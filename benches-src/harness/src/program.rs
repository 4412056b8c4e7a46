//! The two entries: the whole of a program's `main`.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{ArgMatches, Args, Command};
use observation::Observation;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;

use crate::clock::{self, Clock};
use crate::command_line::{self, HarnessFlags};
use crate::describe::{self, Described, ELAPSED};
use crate::laps::{Instruments, REAL};
use crate::report::{self, Report};
use crate::{Placement, Unavailable, counters};

/// No parameters at all.
#[derive(clap::Args, serde::Serialize, Clone, Copy)]
pub struct Nothing {}

/// An operation that can be done again and again. The function is handed its parameters (every field is a flag of the same name), where its
/// threads may run, and a clock for its laps; it returns how many operations were done in all laps together, as counted by those who did
/// them, and the harness compares that with what the clock asked for.
pub fn repeat<P: Args + Serialize>(name: &str, program: impl FnOnce(P, Placement, Clock) -> Result<u64>) -> ExitCode {
    move_the_heap();
    let asked = Asked::of::<P>(name);
    let parameters = command_line::parameters::<P>(&asked.matches);
    let as_json = serde_json::to_vec(&parameters);
    asked.repeat(as_json, Box::new(|placement, clock| program(parameters, placement, clock)))
}

/// An experiment that is done once per process. The function is handed its parameters, where its threads may run, and a report for what it
/// found, which it gives while everything that it found out about is still there. `measures` says what may be in it.
pub fn once<P: Args + Serialize>(
    name: &str,
    measures: &[Described],
    program: impl FnOnce(P, Placement, Report) -> Result<()>,
) -> ExitCode {
    let asked = Asked::of::<P>(name);
    let parameters = command_line::parameters::<P>(&asked.matches);
    let as_json = serde_json::to_vec(&parameters);
    asked.once(as_json, measures, Box::new(|placement, report| program(parameters, placement, report)))
}

/// An operation with its parameters, whatever their type is: behind this, nothing is compiled once
/// for each program.
pub(crate) type Operation<'a> = Box<dyn FnOnce(Placement, Clock) -> Result<u64> + 'a>;

/// An experiment that is done once, with its parameters.
type Experiment<'a> = Box<dyn FnOnce(Placement, Report) -> Result<()> + 'a>;

/// What a program is asked by its command line.
struct Asked<'a> {
    name: &'a str,
    with_parameters: fn(Command) -> Command,
    matches: ArgMatches,
    flags: HarnessFlags,
}

impl<'a> Asked<'a> {
    fn of<P: Args>(name: &'a str) -> Self {
        let (matches, flags) = command_line::read(P::augment_args);
        Self { name, with_parameters: P::augment_args, matches, flags }
    }

    fn repeat(self, parameters: serde_json::Result<Vec<u8>>, operation: Operation) -> ExitCode {
        let Self { name, with_parameters, flags, .. } = self;
        if flags.describe {
            return describe::print(name, with_parameters, &ELAPSED);
        }
        let observation = observe(name, parameters, &flags, |observation| timed(&flags, REAL, observation, operation));
        report::print(observation, &flags)
    }

    fn once(self, parameters: serde_json::Result<Vec<u8>>, measures: &[Described], experiment: Experiment) -> ExitCode {
        let Self { name, with_parameters, flags, .. } = self;
        if flags.describe {
            return describe::print(name, with_parameters, measures);
        }
        let observation = observe(name, parameters, &flags, |observation| {
            experiment(flags.placement, Report::new(measures, &flags, observation))?;
            let reported = !(observation.measures.is_empty() && observation.unavailable.is_empty());
            ensure!(reported, "the program measured nothing");
            Ok(())
        });
        report::print(observation, &flags)
    }
}

/// Begins an observation, lets the program fill it, and tells what this machine cannot run from what went wrong.
pub(crate) fn observe(
    name: &str,
    parameters: serde_json::Result<Vec<u8>>,
    flags: &HarnessFlags,
    fill: impl FnOnce(&mut Observation) -> Result<()>,
) -> Result<Observation> {
    let mut observation = report::empty(name, &parameters?, flags.placement)?;
    // As many descriptors as are allowed. Who needs more says so.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let run = || flags.placement.apply().and_then(|()| fill(&mut observation));
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(Unavailable::unless_refused) {
        Ok(()) => Ok(observation),
        Err(error) => report::unavailable_or_failed(observation, error),
    }
}

pub(crate) fn timed(
    flags: &HarnessFlags,
    instruments: Instruments,
    observation: &mut Observation,
    operation: Operation,
) -> Result<()> {
    clock::note_itself(observation, instruments);
    let mut asked = None;
    let done = operation(flags.placement, Clock::new(flags, instruments, observation, &mut asked))?;
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
