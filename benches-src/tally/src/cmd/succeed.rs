//! `tally succeed`: rewritten programs side by side with those that they take the place of, in the same rounds; and which of them take as long,
//! so that records of the earlier listings still speak of the later ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rand::RngExt;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::{Plan, Plans};
use crate::book::renamed;
use crate::cmd::measure::one_at_a_time;
use crate::measure::bound::own_executable;
use crate::measure::git::revision;
use crate::measure::interrupted::Interrupted;
use crate::measure::programs;
use crate::measure::session::Session;
use crate::project::Project;
use crate::record::contributed::{BUNDLE, DIGEST};
use crate::record::digest::{Digest, Packed};
use crate::record::machine::{Facts, State};
use crate::record::sources::{Current, PLAN};
use crate::record::successions::{Compared, Replaced, Succeeded, Succession};
use crate::record::{Effort, FORMAT, Header, RawRecord, Record, packed};
use crate::say;

/// Measure rewritten programs beside those that they take the place of, and write down which take as long
#[derive(Args)]
pub struct Succeed {
    /// Experiments of which to compare the cells; all if none is named. What was compared before stays compared
    experiments: Vec<String>,
    /// A checkout of the book as it was before, with its programs built
    #[arg(long, value_name = "FOLDER")]
    before: PathBuf,
    /// Take the programs from this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Rounds, each with every cell before and after
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// Only derive what is written down from what was compared already
    #[arg(long)]
    derive: bool,
}

impl Succeed {
    /// Measures, and writes a file of `data/successions`.
    pub fn run(&self, project: &Project) -> Result<()> {
        let plans = Plans::load(project)?;
        for name in &self.experiments {
            plans.experiment(name)?;
        }
        if !self.derive {
            self.measure(project, &plans)?;
        }
        let records = compared_records(project, &plans)?;
        let packed = Packed::of(&records)?;
        let found = derived(&plans, &records.into_iter().map(RawRecord::seen).collect::<Vec<_>>())?;
        let path = |ending| place(project, &found, ending);
        let text = ABOUT.to_owned() + &toml::to_string(&found)?;
        fs::create_dir_all(project.successions())?;
        for (ending, bytes) in [(BUNDLE, &packed.bundle[..]), (DIGEST, &packed.digest), (TOML, text.as_bytes())] {
            let path = path(ending);
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        for own in found.programs.iter().filter(|own| !own.alike) {
            say!("tally: {} does not take as long as before, as far as can be told:", own.name);
            for Compared { cell, ratio, low, high, .. } in &own.cells {
                say!("tally:   {cell}: {ratio:.3} [{low:.3}, {high:.3}] of what it took");
            }
        }
        let alike = found.programs.iter().filter(|own| own.alike).count();
        say!(
            "tally: {alike} of {} programs take as long as before; wrote {}",
            found.programs.len(),
            path(TOML).display()
        );
        Ok(())
    }

    fn measure(&self, project: &Project, plans: &Plans) -> Result<()> {
        let before = Project::at(&self.before)?;
        let plans_before = Plans::load(&before).with_context(|| format!("in {}", before.root().display()))?;
        let _locks = one_at_a_time(project)?;
        let revision = revision(project);
        let programs = match &self.programs {
            Some(folder) => folder.clone(),
            None => programs::build_to_measure(project)?,
        };
        // Only the hashes are asked for, of which successions know nothing.
        let none = Arc::default();
        let interrupted = Interrupted::listen()?;
        for (plan, experiment) in plans.experiments() {
            if !experiment.is_asked_for(&self.experiments) || experiment.push {
                continue;
            }
            let cells = cells_of_both(experiment, &before)?;
            let current = Current::read(project, &plan.chapter, experiment, &none)?;
            // What was not asked then has nothing that it takes the place of.
            let Ok((_, asked_then)) = plans_before.experiment(&experiment.name) else { continue };
            let then = Current::read(&before, &plan.chapter, asked_then, &none)?;
            if cells.is_empty() || current.sources.own == then.sources.own {
                continue;
            }
            let header = Header {
                format: FORMAT,
                chapter: plan.chapter.clone(),
                experiment: experiment.name.clone(),
                effort: Effort::Quick,
                seed: rand::rng().random_range(0..1 << 48),
                cells,
                built: Some(programs::built(&programs, &current.sources)?),
                sources: current.sources,
                succeeds: Some(then.sources),
                revision: revision.clone(),
                machine: Facts::read().allow_listed(),
                before: State::read(),
            };
            say!("tally: comparing {}/{} ({} cells)", plan.chapter, experiment.name, header.cells.len());
            let session = Session {
                project,
                programs: programs.clone(),
                link_orders: None,
                before: Some(before.programs()),
                tally: own_executable(),
                experiment,
                plan,
                path: project.side_by_side(&plan.chapter, &experiment.name),
                interrupted: interrupted.clone(),
                progress: &|_, _| {},
            };
            session.side_by_side(header, self.rounds)?;
        }
        Ok(())
    }
}

/// What is not derived from the records that lie beside it, of all files of `data/successions`.
pub fn check(project: &Project, plans: &Plans, successions: &[Succession]) -> Vec<String> {
    let mut wrong = Vec::new();
    for written in successions {
        let path = |ending| place(project, written, ending);
        let read = || -> Result<Succession> {
            let packed = packed::read(&path(DIGEST))?.context("it is not there")?;
            let digest = Digest::read(&packed)?;
            let records = (0..digest.records.len()).map(|index| digest.record(index)).collect::<Result<Vec<_>>>()?;
            derived(plans, &records)
        };
        match read() {
            Ok(found) if found == *written => {}
            Ok(_) => wrong.push(format!("{} is not what its records come to", project.place(&path(TOML)))),
            Err(error) => wrong.push(format!("{}: {error:#}", project.place(&path(DIGEST)))),
        }
    }
    wrong
}

/// How the name of the file ends that says what was found; the records beside it are named as a session's.
const TOML: &str = ".toml";

fn place(project: &Project, own: &Succession, ending: &str) -> PathBuf {
    project.successions().join(format!("{}{ending}", own.day))
}

const ABOUT: &str = "# Programs that were rewritten, each measured side by side with what it took the place of, by `cargo tally succeed`. What its\n\
                     # fields mean: benches-src/tally/src/record/successions.rs\n\n";

/// The plain cells of a quick run, or of a full one where a quick one has none, each as it is and as it was.
fn cells_of_both(experiment: &Experiment, before: &Project) -> Result<Vec<Cell>> {
    let mut cells = if experiment.is_full_only() { experiment.full_cells()? } else { experiment.quick_cells()? };
    cells.retain(|cell| cell.condition.is_none());
    let pairs = cells.into_iter().map(|cell| (then(experiment, &cell), cell));
    let (then, now): (Vec<Cell>, Vec<Cell>) =
        pairs.filter(|(then, _)| before.programs().join(&then.program).is_file()).unzip();
    Ok([now, then].concat())
}

/// A cell as it was before, under the name that it had.
fn then(experiment: &Experiment, cell: &Cell) -> Cell {
    renamed::then(&experiment.renamed, cell).before()
}

/// The records of what was compared in this checkout.
fn compared_records(project: &Project, plans: &Plans) -> Result<Vec<RawRecord>> {
    let paths = plans.experiments().map(|(plan, own)| project.side_by_side(&plan.chapter, &own.name));
    let records = paths.filter_map(|path| RawRecord::load(&path).transpose()).collect::<Result<Vec<_>>>()?;
    ensure!(!records.is_empty(), "nothing was compared yet; leave out --derive");
    Ok(records)
}

/// What records of programs before and after come to.
fn derived(plans: &Plans, records: &[Record]) -> Result<Succession> {
    let mut found: BTreeMap<String, Vec<Compared>> = BTreeMap::new();
    let (mut before, mut after, mut about) = (BTreeMap::new(), BTreeMap::new(), None);
    let mut replaced = BTreeMap::new();
    for record in records {
        let header = &record.header;
        let (plan, experiment) = plans.experiment(&header.experiment)?;
        before.extend(header.succeeds.iter().flat_map(|sources| sources.own.clone()));
        after.extend(header.sources.own.clone());
        // The plan is of the experiment, and no program's.
        if let Some((before, after)) = before.remove(PLAN).zip(after.remove(PLAN))
            && before != after
        {
            replaced.insert(header.experiment.clone(), Replaced { before, after });
        }
        about = Some((header.day().to_owned(), header.machine.summary()));
        for cell in header.cells.iter().filter(|cell| !cell.is_before()) {
            let of_program = found.entry(format!("{}/{}", plan.chapter, cell.program)).or_default();
            of_program.extend(compared(plan, experiment, record, cell)?);
        }
    }
    let (day, machine) = about.context("it has no record")?;
    let programs = found.into_iter().map(|(name, cells)| Succeeded { name, alike: Succeeded::is_alike(&cells), cells });
    Ok(Succession { day, machine, before, after, plans: replaced, programs: programs.collect() })
}

/// A cell over the same before; nothing where there is no number of both.
fn compared(plan: &Plan, experiment: &Experiment, record: &Record, cell: &Cell) -> Result<Option<Compared>> {
    let measure = experiment.main_measure();
    let expression = Expression::parse(&format!("{cell}.{measure} / {}.{measure}", then(experiment, cell)))?;
    let measured = record.evaluate(&expression)?;
    let name = format!("{}/{}: {cell}", plan.chapter, experiment.name);
    ensure!(record.lost_of(cell).is_none(), "{name} failed; mend the program and compare again");
    let Ok(quantity) = measured else { return Ok(None) };
    let (median, rounds) = (quantity.estimate.median, quantity.estimate.rounds);
    let (low, high) = quantity.estimate.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    Ok(Some(Compared { cell: cell.to_string(), ratio: median, low, high, rounds }))
}
