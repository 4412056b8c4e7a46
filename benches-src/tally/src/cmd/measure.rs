//! `tally measure`: decides what is stale, builds, and measures it. What other verbs measure, they
//! measure by this one.

mod progress;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rand::RngExt;

use progress::{Progress, bar, minutes, seen_first, time_left};

use crate::book::experiment::Experiment;
use crate::book::plan::{Plan, Plans};
use crate::measure::budget::{Budget, cells, has_all, relinks};
use crate::measure::child::own_executable;
use crate::measure::counted;
use crate::measure::environment::{self, PROGRAMS_PATH};
use crate::measure::git::revision;
use crate::measure::identity;
use crate::measure::interrupted::Interrupted;
use crate::measure::programs::{self, LinkOrders};
use crate::measure::session::Session;
use crate::print::render::Form;
use crate::project::Project;
use crate::record::freshness::{Current, Freshness};
use crate::record::known::Known;
use crate::record::machine::{Facts, State};
use crate::record::sources::Sources;
use crate::record::{Effort, FORMAT, Header, Placed, Record, put_aside};
use crate::say;

/// Measure what is stale, or what is named
#[derive(Args)]
pub struct Measure {
    /// Experiments to measure; all if none is named
    experiments: Vec<String>,
    /// How much to measure
    #[arg(long, value_enum, default_value = "quick")]
    effort: Effort,
    /// Measure again even what is fresh
    #[arg(long)]
    again: bool,
    /// Measure also what pushes this machine to its limits
    #[arg(long)]
    push_limits: bool,
    /// Take the programs from this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
}

/// An experiment that is to be measured.
struct Wanted<'a> {
    plan: &'a Plan,
    experiment: &'a Experiment,
    current: Current,
}

/// What all experiments of one call have in common.
struct Build {
    /// Where the programs lie.
    programs: PathBuf,
    /// The machine code of each.
    code: BTreeMap<String, String>,
    revision: Option<String>,
    /// The load average before anything was built.
    load: Option<f64>,
    machine: Facts,
}

/// The experiments of which processes failed, each with how. What else was measured stands.
#[must_use]
pub struct Failed(Vec<String>);

impl Failed {
    /// An error if there are any: somebody at a terminal learns of them by the status too.
    pub fn is_an_error(self) -> Result<()> {
        match self.words() {
            Some(words) => bail!(words),
            None => Ok(()),
        }
    }

    /// A warning if there are any: a page has boxes in the places of what failed, and all else is
    /// worth reading.
    pub fn is_a_warning(self) {
        if let Some(words) = self.words() {
            say!("tally: warning: {words}");
        }
    }

    fn words(&self) -> Option<String> {
        let list: String = self.0.iter().map(|failed| format!("\n  {failed}")).collect();
        (!list.is_empty()).then(|| format!("processes failed, so that these will be measured again:{list}"))
    }
}

impl Measure {
    /// What a build of the book does.
    pub fn stale(effort: Effort, push_limits: bool, programs: Option<PathBuf>) -> Self {
        Self { experiments: Vec::new(), effort, again: false, push_limits, programs }
    }

    /// One experiment, if it is stale.
    pub fn one(experiment: &str, effort: Effort, programs: Option<PathBuf>) -> Self {
        Self { experiments: vec![experiment.to_owned()], effort, again: false, push_limits: false, programs }
    }

    pub fn run(&self, project: &Project, form: Form) -> Result<Failed> {
        let plans = Plans::load(project)?;
        for name in &self.experiments {
            let (_, experiment) = plans.experiment(name)?;
            ensure!(
                !cells(self.effort, experiment)?.is_empty(),
                "experiment {name} is measured in full only; add --effort full"
            );
            ensure!(
                self.push_limits || !experiment.push,
                "experiment {name} pushes this machine to a limit, and is measured only when asked for; add \
                 --push-limits"
            );
        }
        self.say_what_is_kept(project, &plans)?;
        let machine = Facts::read();
        let (mut measured, mut failed) = (Vec::new(), Vec::new());
        if !self.wanted(project, &plans, &Known::load(project)?, &machine)?.is_empty() {
            let _locks = one_at_a_time(project)?;
            // Who had the lock may have measured some of it, and the wait may have been long.
            let machine = machine.anew();
            let known = Known::load(project)?;
            let wanted = self.wanted(project, &plans, &known, &machine)?;
            let (revision, load) = (revision(project), State::read().load);
            let all = wanted.iter().flat_map(|own| own.current.programs.values()).flatten().cloned().collect();
            let building = Instant::now();
            let programs = match &self.programs {
                Some(folder) => folder.clone(),
                None if wanted.is_empty() => project.programs(),
                None => programs::build_to_measure(project, &all)?,
            };
            let compiled = building.elapsed();
            let code = identity::code(project, &programs, &all, &known.today)?;
            // What is the same machine code as before is known only now.
            let mut wanted = self.wanted(project, &plans, &Known::load(project)?, &machine)?;
            let seen_first = seen_first(project, &plans);
            let place = |name: &str| seen_first.iter().position(|first| first == name).unwrap_or(seen_first.len());
            wanted.sort_by_key(|own| place(&own.experiment.name));
            let build = Build { programs, code, revision, load, machine };
            let interrupted = Interrupted::listen()?;
            let mut progress = Progress::of(&wanted, self.effort)?;
            for wanted in wanted {
                measured.push(wanted.experiment.name.as_str());
                failed.extend(self.measure(project, wanted, &build, &interrupted, &mut progress)?);
            }
            if !measured.is_empty() {
                let compiled = match self.programs {
                    None => format!("compiled programs for {}, ", minutes(compiled)),
                    Some(_) => String::new(),
                };
                say!("tally: {compiled}measured for {}", minutes(progress.started.elapsed()));
            }
        }
        if form == Form::Json {
            let measured = serde_json::json!({ "measured": measured });
            writeln!(std::io::stdout(), "{measured}").context("the result cannot be written to standard output")?;
        } else if measured.is_empty() {
            say!("tally: nothing to measure; every record is good enough");
        }
        Ok(Failed(failed))
    }

    /// What is to be measured, with the hashes of what it is built from: whatever is changed while
    /// others are measured is not in them.
    fn wanted<'a>(
        &self,
        project: &Project,
        plans: &'a Plans,
        known: &Arc<Known>,
        machine: &Facts,
    ) -> Result<Vec<Wanted<'a>>> {
        let mut wanted = Vec::new();
        for (plan, experiment) in plans.experiments() {
            if !experiment.is_asked_for(&self.experiments)
                || cells(self.effort, experiment)?.is_empty()
                || (experiment.push && !self.push_limits)
            {
                continue;
            }
            let current = Current::read(plan, experiment, known);
            if self.is_needed(project, plan, experiment, &current, machine)? {
                wanted.push(Wanted { plan, experiment, current });
            }
        }
        Ok(wanted)
    }

    /// Whether there is no record that is good enough.
    fn is_needed(
        &self,
        project: &Project,
        plan: &Plan,
        experiment: &Experiment,
        current: &Current,
        machine: &Facts,
    ) -> Result<bool> {
        let path = project.local_record(&plan.chapter, &experiment.name);
        let Ok(Some(record)) = Record::load(&path) else { return Ok(true) };
        if self.keeps_result(&record.header) {
            return Ok(false);
        }
        if self.again {
            return Ok(true);
        }
        if record.failures() > 0 || lacked_what_is_there_now(&record) {
            return Ok(true);
        }
        let fresh = current.freshness(&record.header) == Freshness::Fresh;
        let then = &record.header.machine;
        let same_machine = then.differences(machine).is_empty() && then.compiler() == machine.compiler();
        let is_enough = fresh && same_machine && record.header.effort >= self.effort;
        Ok(!(is_enough && has_all(&record, self.effort, experiment)?))
    }

    /// A test run shows that everything works; what it would replace is worth more.
    fn keeps_result(&self, header: &Header) -> bool {
        self.effort == Effort::Test && header.effort > Effort::Test
    }

    /// Says which results a test run leaves alone.
    fn say_what_is_kept(&self, project: &Project, plans: &Plans) -> Result<()> {
        for (plan, experiment) in plans.experiments() {
            let path = project.local_record(&plan.chapter, &experiment.name);
            if experiment.is_asked_for(&self.experiments)
                && let Ok(Some(header)) = Record::load_header(&path)
                && self.keeps_result(&header)
            {
                let (path, word) = (path.display(), header.effort.word());
                say!(
                    "tally: {path} is of a {word} run, which no test run replaces; to measure anew, use --effort \
                     {word} --again"
                );
            }
        }
        Ok(())
    }

    /// Measures one, and says how many of its processes failed.
    fn measure(
        &self,
        project: &Project,
        wanted: Wanted,
        build: &Build,
        interrupted: &Interrupted,
        whole: &mut Progress,
    ) -> Result<Option<String>> {
        let Wanted { plan, experiment, current } = wanted;
        let path = project.local_record(&plan.chapter, &experiment.name);
        put_aside_if_unreadable(&path)?;
        let cells = cells(self.effort, experiment)?;
        let all: BTreeSet<&String> = current.programs.values().flatten().collect();
        let mut built = programs::built(&build.programs, all.iter().copied())?;
        built.extend(environment::loaded(&cells, &build.programs)?);
        let code = all.into_iter().filter_map(|name| build.code.get_key_value(name));
        let code = code.map(|(name, code)| (name.clone(), code.clone())).collect();
        let header = Header {
            format: FORMAT,
            chapter: plan.chapter.clone(),
            experiment: experiment.name.clone(),
            effort: self.effort,
            seed: rand::rng().random_range(0..1 << 48),
            cells,
            built: Some(built),
            sources: Sources { code: Some(code), ..current.sources },
            revision: build.revision.clone(),
            machine: build.machine.anew().allow_listed(),
            // What this process and its programs have done since is no sign that the machine is
            // busy with anything else.
            before: State { load: build.load, ..State::read() },
        };
        let cells = header.cells.len();
        let rounds = Budget::for_experiment(self.effort, experiment).rounds;
        let at = whole.next(cells * rounds);
        say!("tally: measuring {}/{} ({cells} cells, {rounds} rounds), {at}", plan.chapter, experiment.name);
        let bar = bar(experiment);
        let started = Instant::now();
        let progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
            let left = time_left(started, done, of).map_or(String::new(), |left| format!("{} s left", left.as_secs()));
            bar.set_message(left);
            bar.tick();
        };
        // Programs that were not built here cannot be linked here.
        let relinks = relinks(self.effort, experiment) && self.programs.is_none();
        let session = Session {
            project,
            programs: build.programs.clone(),
            link_orders: relinks.then(|| LinkOrders::of(project, &build.programs, experiment)).transpose()?,
            before: None,
            tally: own_executable(),
            experiment,
            plan,
            path: path.clone(),
            interrupted: interrupted.clone(),
            progress: &progress,
        };
        let placed = session.run(header)?;
        bar.finish_and_clear();
        let written = match &placed {
            Placed::Kept => &path,
            Placed::Aside(aside, _) => aside,
        };
        let record = Record::load(written)?.expect("just written");
        say!("tally: {}", ending(&record, started));
        if let Placed::Aside(aside, why) = &placed {
            say!("tally: the record that was there stays, since {why}; this session is {}", aside.display());
        }
        let all: Vec<usize> = (0..cells).collect();
        Ok(record.lost(&all).map(|lost| format!("{}: {}{}", experiment.name, lost.words(), last_words(&record))))
    }
}

/// Makes room for a record where there is one that cannot be read. Only who has the lock may do so:
/// else two would put the same aside.
fn put_aside_if_unreadable(path: &Path) -> Result<()> {
    let Err(error) = Record::load(path) else { return Ok(()) };
    let aside = put_aside(path, path, "unreadable")?;
    say!("tally: {error:#}\ntally: it is put aside as {}, and measured again", aside.display());
    Ok(())
}

fn ending(record: &Record, started: Instant) -> String {
    let end = record.end.as_ref().expect("a complete record");
    let rounds = record.complete_rounds().len();
    let failures = record.failures();
    let headline = match end.headline_half_width {
        Some(width) if end.target > 0.0 => format!(
            ", headline ±{} (target ±{}{})",
            crate::print::format::percent(width),
            crate::print::format::percent(end.target),
            if end.doubled { ", rounds were doubled" } else { "" }
        ),
        _ => String::new(),
    };
    let failed = if failures > 0 { format!(", {failures} processes failed") } else { String::new() };
    format!("{rounds} rounds in {:.1} s{headline}{failed}", started.elapsed().as_secs_f64())
}

/// What the last process that failed said last.
fn last_words(record: &Record) -> String {
    let failures = record.runs.iter().rev().filter_map(|run| run.failure.as_ref());
    let said = failures.flat_map(|failure| failure.last_lines.last()).next();
    said.map_or(String::new(), |line| format!(". {line}"))
}

/// Whether something was not measured for lack of a tool that has been installed since.
fn lacked_what_is_there_now(record: &Record) -> bool {
    let observed = record.runs.iter().filter_map(|run| run.observation.as_ref());
    let mut reasons = observed.flat_map(|seen| seen.unavailable.values());
    reasons.any(|reason| {
        let tool = counted::installed_since(reason, PROGRAMS_PATH);
        tool.or_else(|| environment::installed_since(reason)).is_some()
    })
}

/// One measurement at a time: on a machine, whatever checkout it is of, and in a checkout, whatever
/// machine or container it is shared with.
pub fn one_at_a_time(project: &Project) -> Result<[Option<File>; 2]> {
    // The root folder is on every machine, stays where it is, can be opened by everybody, and needs
    // no room on any disk. Tests measure nothing real, and have locks of their own.
    let machine = env::var_os("TALLY_TEST_LOCK").map_or(PathBuf::from("/"), PathBuf::from);
    Ok([locked(&machine, "on this machine")?, locked(&project.all_data(), "in this checkout")?])
}

/// The lock of a folder, once nobody else has it. Where a file system has no locks, that is said
/// and nothing more.
fn locked(folder: &Path, place: &str) -> Result<Option<File>> {
    let file = File::open(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    let taken = match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            say!("tally: something else is measuring {place}; waiting for it to end");
            file.lock()
        }
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    if let Err(error) = taken {
        say!("tally: warning: {} cannot be locked ({error}); see to it that nothing else measures", folder.display());
        return Ok(None);
    }
    Ok(Some(file))
}
