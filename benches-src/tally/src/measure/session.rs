//! Runs an experiment: rounds of fresh processes, one per cell, in shuffled order. While a process
//! runs, this one only waits for it; progress is drawn between processes.

mod side_by_side;
mod unfinished;

use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use wait_timeout::ChildExt;

use super::exited::ExitedProcess;
use super::interrupted::Interrupted;
use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::neighbour::Kind;
use crate::book::plan::Plan;
use crate::measure::background::Background;
use crate::measure::budget::Budget;
use crate::measure::child::{CANNOT_START, tied};
use crate::measure::core_to_core;
use crate::measure::environment::Environment;
use crate::measure::programs::LinkOrders;
use crate::project::Project;
use crate::record::machine::State;
use crate::record::names::named;
use crate::record::private::recorded;
use crate::record::{Effort, End, Failure, Header, Placed, Raw, RawRun, Record, Writer};
use crate::say;

/// One experiment about to be run.
pub struct Session<'a> {
    pub project: &'a Project,
    pub programs: PathBuf,
    /// The same in other orders, where each round has one of its own.
    pub link_orders: Option<LinkOrders<'a>>,
    /// Where the programs lie that these have taken the place of, where both are measured side by
    /// side.
    pub before: Option<PathBuf>,
    /// tally's executable, which executes each program and the background load.
    pub tally: PathBuf,
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    /// The record that will be written.
    pub path: PathBuf,
    pub interrupted: Interrupted,
    /// Called between processes, with processes done and to do.
    pub progress: &'a dyn Fn(usize, usize),
}

impl Session<'_> {
    /// Runs the experiment from its header on, or goes on with what an interrupted session left.
    pub fn run(mut self, header: Header) -> Result<Placed> {
        self.clear()?;
        let placed = self.run_in_rounds(header)?;
        // What the programs left there is nobody's any more. The next session empties it too.
        if let Err(error) = self.clear() {
            say!("tally: warning: {error:#}");
        }
        Ok(placed)
    }

    /// Makes the folder for what programs write while they run, empty: those of a session that was
    /// killed had no time to remove it.
    fn clear(&self) -> Result<()> {
        let folder = self.project.temporary();
        let clear = || -> std::io::Result<()> {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)
        };
        let in_words = || format!("{} cannot be emptied; is it writable, and is the disk full?", folder.display());
        match clear().with_context(in_words) {
            // On a disk of the network, a file that somebody has open cannot be removed, and harms
            // nobody.
            Err(error) if tempfile::tempfile_in(&folder).is_ok() => {
                say!("tally: warning: {error:#}");
                Ok(())
            }
            cleared => cleared,
        }
    }

    fn run_in_rounds(&mut self, header: Header) -> Result<Placed> {
        let now = header.before.clone();
        self.rehearse(&header.cells)?;
        let (mut writer, mut record) = self.begin(header)?;
        let mut resumed = (!record.runs.is_empty()).then_some(now);
        let budget = Budget::for_experiment(record.header.effort, self.experiment);
        self.link(&record, 2 * budget.rounds)?;
        // The rounds are doubled after one look at them, and whoever interrupts a session does not
        // get it another.
        let mut doubled = record.complete_rounds().len() > budget.rounds;
        let half_width = loop {
            let wanted = if doubled { 2 * budget.rounds } else { budget.rounds };
            self.rounds(&mut writer, &mut record, wanted, &mut resumed)?;
            let half_width = self.headline(&record)?;
            if doubled || !budget.doubles(half_width, record.rounds_took()) {
                break half_width;
            }
            doubled = true;
        };
        let target = if budget.target.is_finite() { budget.target } else { 0.0 };
        let changed = record.header.machine.changed_since();
        let end = End { after: State::read(), headline_half_width: half_width, target, doubled, changed };
        writer.finish(&record, &end)
    }

    /// Every cell does its work once before any is timed, so that a plan that asks a program for
    /// what it does not understand is found out before rounds are spent on it. What fails otherwise
    /// fails in its rounds as well, where every process checks its own work, and the record says
    /// so: the other cells stand.
    fn rehearse(&self, cells: &[Cell]) -> Result<()> {
        if !self.experiment.measures.is_empty() {
            // What such a program does once is all that it does, and it checks that itself.
            return Ok(());
        }
        for cell in cells.iter().filter(|cell| !cell.is_twin()) {
            self.interrupted.check(&self.path)?;
            let once = ["--once".to_owned(), "--quiet".to_owned()];
            let program = self.program(cell, None);
            if let Ok(environment) = Environment::of(cell, &program, 0)? {
                self.understood(cell, &self.start(&program, cell, &once, environment)?)?;
            }
        }
        Ok(())
    }

    /// A mistake in the plan stops the session; it is no result.
    fn understood(&self, cell: &Cell, exited: &ExitedProcess) -> Result<()> {
        ensure!(
            exited.usage_error().is_none(),
            "{}: {cell} is not understood by its program: {}",
            self.project.place(&self.project.experiment(&self.plan.chapter, &self.experiment.name)),
            exited.usage_error().unwrap_or_default()
        );
        Ok(())
    }

    /// Runs rounds until there are as many as wanted, or the time is up. What is in the record
    /// decides, and so an interruption changes nothing.
    fn rounds(
        &self,
        writer: &mut Writer,
        record: &mut Record,
        wanted: usize,
        resumed: &mut Option<State>,
    ) -> Result<()> {
        let budget = Budget::for_experiment(record.header.effort, self.experiment);
        let per_round = record.header.cells.len();
        loop {
            let complete = record.complete_rounds().len();
            if complete >= wanted || budget.ends_after(complete, record.rounds_took()) {
                return Ok(());
            }
            let round = record.next_round();
            for (position, (cell, environment_bytes)) in
                order(record.header.seed, round, per_round).into_iter().enumerate()
            {
                (self.progress)(complete * per_round + position, wanted * per_round);
                let run = self.measure(&record.header, round, cell, environment_bytes)?;
                let run = RawRun { resumed: resumed.take(), ..run };
                // A process that was interrupted with us says nothing about its program.
                self.interrupted.check(&self.path)?;
                writer.run(&run)?;
                record.runs.push(run.into());
            }
        }
    }

    /// Links the programs for as many rounds as there may be, before the first of them: what takes
    /// its time is to begin. Where the linker cannot, all rounds run one order.
    fn link(&mut self, record: &Record, most: usize) -> Result<()> {
        let Some(orders) = &self.link_orders else { return Ok(()) };
        let missing = most.saturating_sub(record.complete_rounds().len());
        if missing == 0 {
            return Ok(());
        }
        let first = record.next_round();
        let linked = orders.link(link_order(first, false)..link_order(first + missing as u32, true));
        // Whoever asked this process to stop has asked cargo as well.
        self.interrupted.check(&self.path)?;
        if !linked? {
            let so_far = record.runs.iter().all(|run| run.link_order.is_none());
            ensure!(so_far, "the programs cannot be linked anew; see the message above");
            say!("tally: this linker cannot order functions otherwise (see above); all rounds run the same programs");
            self.link_orders = None;
        }
        Ok(())
    }

    fn measure(&self, header: &Header, round: u32, index: usize, environment_bytes: usize) -> Result<RawRun> {
        let cell = &header.cells[index];
        let link_order = self.link_orders.as_ref().map(|_| link_order(round, cell.is_twin()));
        let program = self.program(cell, link_order);
        // Where a sandbox keeps processes from choosing their CPU, nobody knows.
        let core_to_core_ns = core_to_core::of_two_cpus().ok().flatten();
        let started = Instant::now();
        let observe = |environment| match self.experiment.count {
            None => self.time(&program, cell, &self.flags(header.effort, round), environment),
            Some(count) => self.count(count, cell, environment),
        };
        let outcome = match (Environment::of(cell, &program, environment_bytes)?, cell.neighbours()) {
            (Err(reason), _) => Ok(self.unavailable(cell, reason)),
            (Ok(environment), Some(kind)) => self.beside(kind, cell, || observe(environment))?,
            (Ok(environment), None) => observe(environment)?,
        };
        let took_ms = Some(started.elapsed().as_millis() as u64);
        let (observation, failure) = match outcome {
            Ok(observation) => (Some(observation), None),
            Err(failure) => (None, Some(failure)),
        };
        Ok(RawRun {
            round,
            cell: index,
            environment_bytes,
            link_order,
            took_ms,
            core_to_core_ns,
            resumed: None,
            observation,
            failure,
        })
    }

    /// Where a cell's program lies, as it is usually linked or in another order.
    pub(super) fn program(&self, cell: &Cell, link_order: Option<u32>) -> PathBuf {
        match (&self.before, self.link_orders.as_ref().zip(link_order)) {
            (Some(before), _) if cell.is_before() => before.join(&cell.program),
            (_, Some((orders, order))) => orders.program(&cell.program, order),
            (_, None) => self.programs.join(&cell.program),
        }
    }

    fn time(&self, program: &Path, cell: &Cell, flags: &[String], environment: Environment) -> Result<Outcome> {
        let exited = self.start(program, cell, flags, environment)?;
        self.understood(cell, &exited)?;
        Ok(exited.observation(&self.plan.chapter, cell))
    }

    /// Observes under background load. Without it nothing is observed, since that is another cell.
    fn beside(&self, kind: Kind, cell: &Cell, observe: impl FnOnce() -> Result<Outcome>) -> Result<Outcome> {
        let mut background = match Background::start(&self.tally, kind)? {
            Ok(background) => background,
            Err(reason) => return Ok(Ok(self.unavailable(cell, reason))),
        };
        let outcome = observe()?;
        Ok(match background.ran_until_now()? {
            Ok(()) => outcome,
            Err(reason) => Ok(self.unavailable(cell, reason)),
        })
    }

    /// What is recorded of a cell that this machine cannot run as the plan wants it.
    pub(super) fn unavailable(&self, cell: &Cell, reason: impl Into<String>) -> Raw {
        Raw {
            program: format!("{}/{}", self.plan.chapter, cell.program),
            parameters: named(cell.parameters.clone()),
            placement: cell.placement.clone(),
            unavailable: named([("elapsed".to_owned(), reason.into())].into()),
            ..Raw::default()
        }
    }

    /// What each program is asked for.
    fn flags(&self, effort: Effort, round: u32) -> Vec<String> {
        let mut flags: Vec<String> = match self.experiment.histogram_laps {
            None => Budget::of(effort).flags.iter().map(|flag| (*flag).to_owned()).collect(),
            Some(laps) => {
                let laps = if effort == Effort::Test { 20 } else { laps };
                vec!["--histogram".to_owned(), laps.to_string(), "--warmups".to_owned(), (laps / 10).to_string()]
            }
        };
        // Some apart, since a program may take the numbers that follow for what it does next.
        let anew = self.experiment.anew_each_round.iter();
        flags.extend(anew.flat_map(|name| [format!("--{name}"), (10 * round + 1).to_string()]));
        flags.push("--json".to_owned());
        flags
    }

    /// Starts a program and waits for it, or for its time to run out.
    fn start(
        &self,
        program: &Path,
        cell: &Cell,
        flags: &[String],
        environment: Environment,
    ) -> Result<ExitedProcess<'_>> {
        ensure!(program.is_file(), "cannot start {}: it is not there", program.display());
        let mut command = tied(&self.tally, program);
        command.args(cell.arguments()).args(flags);
        self.wait(command, environment, Child::kill)
    }

    /// Starts a command and waits for it, or for its time to run out.
    pub(super) fn wait(
        &self,
        mut command: Command,
        environment: Environment,
        kill: impl FnOnce(&mut Child) -> std::io::Result<()>,
    ) -> Result<ExitedProcess<'_>> {
        let temporary = self.project.temporary();
        let file = || tempfile::tempfile_in(&temporary).context(NO_ROOM);
        let (mut output, mut errors) = (file()?, file()?);
        environment.give(&mut command, &temporary);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(errors.try_clone()?);
        let started = command.spawn();
        let mut child = started.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let limit = Duration::from_secs(self.experiment.limit_seconds);
        let status = child.wait_timeout(limit)?;
        if status.is_none() {
            kill(&mut child)?;
            child.wait()?;
        }
        let text = |file: &mut fs::File| -> Result<String> {
            let mut bytes = Vec::new();
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let errors = text(&mut errors)?;
        if status.and_then(|status| status.code()) == Some(CANNOT_START) {
            bail!("{}", errors.trim().trim_start_matches("tally: "));
        }
        // Its last lines may come to stand in the record.
        let checkout = self.project.root();
        let errors = recorded(&errors, checkout);
        Ok(ExitedProcess { status, limit, output: text(&mut output)?, errors, checkout })
    }

    fn headline(&self, record: &Record) -> Result<Option<f64>> {
        let Some(headline) = &self.experiment.headline else { return Ok(None) };
        let expression = Expression::parse(headline)?;
        let measured = record.evaluate_any_effort(&expression)?;
        Ok(measured.ok().and_then(|quantity| quantity.estimate.relative_half_width()))
    }
}

/// What a process reported, or how it failed.
pub(super) type Outcome = Result<Raw, Failure>;

pub(super) const NO_ROOM: &str = "no temporary file can be made for a program's output below target; is the disk full?";

/// The order of cells in a round, each with the padding of its environment: the same for the same
/// seed and round.
fn order(seed: u64, round: u32, cells: usize) -> Vec<(usize, usize)> {
    let mut rng = StdRng::seed_from_u64(seed.wrapping_add(u64::from(round)));
    let environment_bytes = rng.random_range(0..4096);
    let mut order: Vec<usize> = (0..cells).collect();
    order.shuffle(&mut rng);
    order.into_iter().map(|cell| (cell, environment_bytes)).collect()
}

/// The order in which the programs of a round are linked. That of a twin is another one, the next
/// round's, so that what an order does is in the noise floor.
fn link_order(round: u32, is_twin: bool) -> u32 {
    1 + round + u32::from(is_twin)
}

#[cfg(test)]
mod tests;
