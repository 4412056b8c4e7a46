//! `tally measure`: decides what is stale, builds, and measures it. The only verb beside `export` that writes below `data/`.

use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rand::RngExt;

use crate::machine::{Facts, State};
use crate::plan::{Experiment, Plan, Plans};
use crate::programs::{self, LinkOrders};
use crate::project::{Machine, Project};
use crate::record::{Effort, FORMAT, Header, Record, put_aside};
use crate::render::Form;
use crate::session::{Interrupted, Session, time_left};
use crate::sources::{Current, Freshness, Sources};

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
    sources: Sources,
}

/// What all experiments of one call have in common.
struct Build {
    /// Where the programs lie.
    programs: PathBuf,
    revision: Option<String>,
    /// The load average before anything was built.
    load: Option<f64>,
    machine: Facts,
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

    /// Measures.
    pub fn run(&self, project: &Project, form: Form) -> Result<()> {
        let plans = Plans::load(project)?;
        for name in &self.experiments {
            let (_, experiment) = plans.experiment(name)?;
            ensure!(
                !self.effort.cells(experiment)?.is_empty(),
                "experiment {name} is measured in full only; add --effort full"
            );
            ensure!(
                self.push_limits || !experiment.push,
                "experiment {name} pushes this machine to a limit, and is measured only when asked for; add --push-limits"
            );
        }
        self.say_what_is_kept(project, &plans)?;
        let machine = Facts::read();
        let mut measured = Vec::new();
        if !self.wanted(project, &plans, &machine)?.is_empty() {
            let _lock = one_at_a_time()?;
            // Who had the lock may have measured some of it.
            let wanted = self.wanted(project, &plans, &machine)?;
            let (revision, load) = (revision(project), State::read().load);
            let programs = match &self.programs {
                Some(folder) => folder.clone(),
                None if wanted.is_empty() => project.programs(),
                None => programs::build_to_measure(project)?,
            };
            let build = Build { programs, revision, load, machine };
            let interrupted = Interrupted::listen()?;
            for wanted in wanted {
                measured.push(wanted.experiment.name.as_str());
                self.measure(project, wanted, &build, &interrupted)?;
            }
        }
        if form == Form::Json {
            println!("{}", serde_json::json!({ "measured": measured }));
        } else if measured.is_empty() {
            eprintln!("tally: nothing to measure; every record is good enough");
        }
        Ok(())
    }

    /// What is to be measured, with the hashes of what it will be built from: whatever is changed while others are measured is not in them.
    fn wanted<'a>(&self, project: &Project, plans: &'a Plans, machine: &Facts) -> Result<Vec<Wanted<'a>>> {
        let mut wanted = Vec::new();
        for (plan, experiment) in plans.experiments() {
            if !self.is_asked_for(experiment)
                || self.effort.cells(experiment)?.is_empty()
                || (experiment.push && !self.push_limits)
            {
                continue;
            }
            let current = Current::read(project, &plan.chapter, experiment)?;
            if self.is_needed(project, plan, experiment, &current, machine)? {
                wanted.push(Wanted { plan, experiment, sources: current.sources });
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
        let path = project.record(&Machine::Local, &plan.chapter, &experiment.name);
        let Ok(Some(record)) = Record::load(&path) else { return Ok(true) };
        if self.keeps_result(&record.header) {
            return Ok(false);
        }
        if self.again {
            return Ok(true);
        }
        let fresh = record.header.sources.freshness(current) == Freshness::Fresh;
        let rust = |facts: &Facts| facts.known.get("Rust").cloned();
        let same_machine =
            record.header.machine.differences(machine).is_empty() && rust(&record.header.machine) == rust(machine);
        Ok(!(fresh && same_machine && record.header.effort >= self.effort))
    }

    /// Whether it was named, as all are where none is.
    fn is_asked_for(&self, experiment: &Experiment) -> bool {
        self.experiments.is_empty() || self.experiments.contains(&experiment.name)
    }

    /// A test run shows that everything works; what it would replace is worth more.
    fn keeps_result(&self, header: &Header) -> bool {
        self.effort == Effort::Test && header.effort > Effort::Test
    }

    /// Says which results a test run leaves alone.
    fn say_what_is_kept(&self, project: &Project, plans: &Plans) -> Result<()> {
        for (plan, experiment) in plans.experiments() {
            let path = project.record(&Machine::Local, &plan.chapter, &experiment.name);
            if self.is_asked_for(experiment)
                && let Ok(Some(header)) = Record::load_header(&path)
                && self.keeps_result(&header)
            {
                let (path, word) = (path.display(), header.effort.word());
                eprintln!(
                    "tally: {path} is of a {word} run, which no test run replaces; to measure anew, use --effort {word} --again"
                );
            }
        }
        Ok(())
    }

    fn measure(&self, project: &Project, wanted: Wanted, build: &Build, interrupted: &Interrupted) -> Result<()> {
        let Wanted { plan, experiment, sources } = wanted;
        let path = project.record(&Machine::Local, &plan.chapter, &experiment.name);
        put_aside_if_unreadable(&path)?;
        let header = Header {
            format: FORMAT,
            chapter: plan.chapter.clone(),
            experiment: experiment.name.clone(),
            effort: self.effort,
            seed: rand::rng().random_range(0..1 << 48),
            cells: self.effort.cells(experiment)?,
            sources,
            revision: build.revision.clone(),
            machine: build.machine.allow_listed(),
            // What this process and its programs have done since is no sign that the machine is busy with anything else.
            before: State { load: build.load, ..State::read() },
        };
        let cells = header.cells.len();
        let rounds = self.effort.extent_for(experiment).rounds;
        eprintln!("tally: measuring {}/{} ({cells} cells, {rounds} rounds)", plan.chapter, experiment.name);
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
        let relinks = self.effort.relinks(experiment) && self.programs.is_none();
        let session = Session {
            project,
            programs: build.programs.clone(),
            link_orders: relinks.then(|| LinkOrders::of(project, &build.programs, experiment)).transpose()?,
            tally: std::env::current_exe().context("tally cannot find its own executable")?,
            experiment,
            plan,
            path: path.clone(),
            interrupted: interrupted.clone(),
            progress: &progress,
        };
        session.run(header)?;
        bar.finish_and_clear();
        let record = Record::load(&path)?.expect("just written");
        eprintln!("tally: {}", ending(&record, started));
        Ok(())
    }
}

/// Makes room for a record where there is one that cannot be read. Only who has the lock may do so: else two would put the same aside.
fn put_aside_if_unreadable(path: &Path) -> Result<()> {
    let Err(error) = Record::load(path) else { return Ok(()) };
    let aside = put_aside(path, path, "unreadable")?;
    eprintln!("tally: {error:#}\ntally: it is put aside as {}, and measured again", aside.display());
    Ok(())
}

/// Draws only when told to, never by a thread of its own: on two cores, that would be in the numbers.
fn bar(experiment: &Experiment) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("tally: {prefix} [{bar:30}] {pos}/{len} processes, {msg}");
    ProgressBar::new(1).with_prefix(experiment.name.clone()).with_style(style.expect("a literal that is well formed"))
}

fn ending(record: &Record, started: Instant) -> String {
    let end = record.end.as_ref().expect("a complete record");
    let rounds = record.complete_rounds().len();
    let failures = record.runs.iter().filter(|run| run.failure.is_some()).count();
    let headline = match end.headline_half_width {
        Some(width) if end.target > 0.0 => format!(
            ", headline ±{} (target ±{}{})",
            crate::format::percent(width),
            crate::format::percent(end.target),
            if end.doubled { ", rounds were doubled" } else { "" }
        ),
        _ => String::new(),
    };
    let failed = if failures > 0 { format!(", {failures} processes failed") } else { String::new() };
    format!("{rounds} rounds in {:.1} s{headline}{failed}", started.elapsed().as_secs_f64())
}

/// One measurement at a time on a machine, whatever checkout it is of.
fn one_at_a_time() -> Result<File> {
    let path = std::env::temp_dir().join("tally-measure.lock");
    let open = File::options().write(true).create(true).truncate(false).open(&path);
    let file = open.or_else(|_| File::open(&path)).with_context(|| format!("cannot open {}", path.display()))?;
    if file.try_lock().is_err() {
        eprintln!("tally: something else is measuring on this machine; waiting for it to end ({})", path.display());
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

/// The revision of the checkout, with `+` where tracked files differ from it.
fn revision(project: &Project) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(project.root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let revision = git(&["rev-parse", "--short=12", "HEAD"])?;
    let dirty = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if dirty.is_empty() { revision } else { revision + "+" })
}
