//! The entry for an operation that can be done again and again.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, Parser};
use observation::{Measure, Observation, Window};
use serde::Serialize;

use crate::clock::{self, Instruments, Laps};
use crate::command_line::{CommandLine, HarnessFlags};
use crate::resources::{Unavailable, raise_descriptor_limit};
use crate::{Placement, counters, report, sampling};

/// An operation that can be done again and again, in laps.
pub trait Repeat: Sized {
    /// What a reader can vary; every field is a flag of the same name.
    type Parameters: Args + Serialize;

    /// Builds everything that the laps need. Outside the clock.
    fn set_up(parameters: &Self::Parameters, placement: Placement) -> Result<Self>;

    /// Operations in one lap.
    fn operations_per_lap(&self) -> u64;

    /// Does the laps: `for _ in laps { … }`. The clock runs from the first lap's beginning to the last one's end.
    fn run(&mut self, laps: Laps) -> Result<()>;

    /// What those who do the operations have counted until now beside them, by name. Outside the clock; how far each has moved in all laps
    /// together stands in the observation's `whole_run`.
    fn counts(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    /// Takes everything down and says how many operations were done in all laps together, as counted by those who did
    /// them. Outside the clock; the harness compares the count with the laps it asked for.
    fn finish(self) -> Result<u64>;
}

/// The whole of a program's `main`.
pub fn repeat<R: Repeat>(name: &str) -> ExitCode {
    move_the_heap();
    let CommandLine { parameters, harness: flags } = CommandLine::<R::Parameters>::parse();
    let observation = observe::<R>(name, &parameters, &flags, clock::REAL);
    report::print(observation, &flags)
}

/// Where the heap's blocks fall within cache lines would depend on how long the words of the command line are, the program's path among
/// them, and be the same in every round. What is kept here is as long as tally makes it, which differs from round to round.
fn move_the_heap() {
    std::mem::forget(std::env::var_os("ENVIRONMENT_PADDING"));
}

/// Sets up, samples, takes down, and checks that the work was done.
pub(crate) fn observe<R: Repeat>(
    name: &str,
    parameters: &R::Parameters,
    flags: &HarnessFlags,
    instruments: Instruments,
) -> Result<Observation> {
    let mut observation = report::empty(name, parameters, flags.placement)?;
    match measure::<R>(parameters, flags, instruments, &mut observation) {
        Ok(()) => Ok(observation),
        Err(error) => report::unavailable_or_failed(observation, error),
    }
}

fn measure<R: Repeat>(
    parameters: &R::Parameters,
    flags: &HarnessFlags,
    instruments: Instruments,
    observation: &mut Observation,
) -> Result<()> {
    raise_descriptor_limit()?;
    flags.placement.apply()?;
    observation.idle_window = Some(idle_window(instruments));
    let (resolution_ns, cost_ns) = clock::resolution_and_cost_ns();
    note_clock(observation, resolution_ns, cost_ns);

    let mut subject = R::set_up(parameters, flags.placement)?;
    let per_lap = subject.operations_per_lap();
    let before = Moment::now(&subject, instruments);
    let sampled = sampling::take(&mut subject, flags, instruments)?;
    let asked = sampled.laps * per_lap;
    note_whole_run(observation, before, Moment::now(&subject, instruments), asked);
    flags.run_command()?;
    let done = subject.finish()?;
    ensure!(done == asked, "{asked} operations were asked for and {done} were done");

    observation.doubts = report::doubts(&sampled.samples, cost_ns);
    observation.samples = sampled.samples;
    observation.histograms.extend(sampled.single_laps.map(|laps| ("lap".to_owned(), laps)));
    observation.unavailable.extend(counters::unavailable());
    Ok(())
}

/// What the counters do while the program does nothing.
fn idle_window(instruments: Instruments) -> Window {
    const LENGTH: std::time::Duration = std::time::Duration::from_millis(10);
    let (laps, timed) = Laps::new(1, 0, instruments);
    for () in laps {
        std::thread::sleep(LENGTH);
    }
    timed.try_recv().expect("a loop that ends sends its times").sample.window()
}

fn note_clock(observation: &mut Observation, resolution_ns: f64, cost_ns: f64) {
    let ns = |value| Measure { unit: "ns".to_owned(), values: vec![value] };
    observation.measures.insert("clock_resolution".to_owned(), ns(resolution_ns));
    observation.measures.insert("clock_cost".to_owned(), ns(cost_ns));
}

/// What is known at either end of all laps.
struct Moment {
    at_ns: u64,
    migrations: Result<u64, String>,
    counts: BTreeMap<String, u64>,
}

impl Moment {
    fn now<R: Repeat>(subject: &R, instruments: Instruments) -> Self {
        let (migrations, counts) = (counters::migrations(), subject.counts());
        Self { at_ns: (instruments.now)(), migrations, counts }
    }
}

fn note_whole_run(observation: &mut Observation, begin: Moment, end: Moment, operations: u64) {
    let moved = |(name, count): (String, u64)| {
        let before = begin.counts.get(&name)?;
        Some((name, count.saturating_sub(*before)))
    };
    let mut counters: BTreeMap<_, _> = end.counts.into_iter().filter_map(moved).collect();
    match begin.migrations.and_then(|before| Ok(end.migrations? - before)) {
        Ok(moved) => drop(counters.insert("migrations".to_owned(), moved)),
        Err(reason) => drop(observation.unavailable.insert("migrations".to_owned(), reason)),
    }
    observation.whole_run = Some(Window { operations, elapsed_ns: end.at_ns - begin.at_ns, counters });
}

impl Unavailable {
    pub(crate) fn reason_of(error: &anyhow::Error) -> Option<&str> {
        error.downcast_ref::<Self>().map(|u| u.0.as_str())
    }
}
