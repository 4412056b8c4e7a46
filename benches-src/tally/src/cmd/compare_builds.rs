//! `tally compare-builds`: programs that run otherwise than before, beside what they were. Those
//! that do the same work are written down, so that records of the earlier ones still speak of them.
//! What is counted decides first, and the clock only where nothing can be counted, or where counts
//! differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use rand::RngExt;

use crate::book::cell::Cell;
use crate::book::count::Count;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::{Plan, Plans};
use crate::book::{plan_file, renamed};
use crate::cmd::measure::one_at_a_time;
use crate::measure::bound::own_executable;
use crate::measure::git::revision;
use crate::measure::interrupted::Interrupted;
use crate::measure::programs;
use crate::measure::session::Session;
use crate::project::Project;
use crate::record::known::{Equivalence, Equivalences, Known};
use crate::record::machine::{Facts, State};
use crate::record::programs::{Built, Programs, source};
use crate::record::sources::Current;
use crate::record::{Effort, FORMAT, Header, Record};
use crate::say;

/// Compare programs with an earlier build of them, and write down which do the same work
#[derive(Args)]
pub struct CompareBuilds {
    /// Experiments whose programs to compare; all if none is named
    experiments: Vec<String>,
    /// A checkout of the book as it was before, with its programs built
    #[arg(long, value_name = "FOLDER")]
    before: PathBuf,
    /// Take the programs from this folder instead of building them
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Rounds of what is timed, each with every cell before and after
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// Only count, and time nothing
    #[arg(long)]
    count: bool,
}

/// One program in two builds.
struct Pair {
    program: String,
    before: String,
    after: String,
}

/// What differs by less is the same work.
const SAME_WORK: f64 = 0.005;
/// What is still as long.
const ALIKE: f64 = 0.02;
/// An interval that says so must be narrower than this, either way.
const PRECISE: f64 = 0.05;

impl CompareBuilds {
    /// Compares, and adds to `data/equivalences.toml`.
    pub fn run(&self, project: &Project) -> Result<()> {
        let plans = Plans::load(project)?;
        for name in &self.experiments {
            plans.experiment(name)?;
        }
        let before = Project::at(&self.before)?;
        let _locks = one_at_a_time(project)?;
        let folder = match &self.programs {
            Some(folder) => folder.clone(),
            None => programs::build_to_measure(project)?,
        };
        let mut pairs = pairs(project, &folder, &before)?;
        let known = Known::load(project)?;
        pairs.retain(|pair| known.does_the_work_of(&pair.program, &[&pair.before]).is_none());
        say!("tally: {} programs run otherwise than in {}", pairs.len(), before.root().display());
        let mut written: Equivalences = plan_file::read_if_any(project, &project.equivalences())?;
        for pair in pairs {
            let Some((because, cells)) = self.compared(project, &plans, &known, &before, &folder, &pair.program)?
            else {
                say!("tally: {}: not known to do the same work", pair.program);
                continue;
            };
            say!("tally: {}: {because}", pair.program);
            let Pair { program, before, after } = pair;
            written.all.push(Equivalence { program, before, after, because, cells });
            // What was found stays, whatever comes of the next.
            let text = ABOUT.to_owned() + &toml::to_string(&written)?;
            let path = project.equivalences();
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// What shows that a program does the same work, and what was found of each cell.
    fn compared(
        &self,
        project: &Project,
        plans: &Plans,
        known: &std::sync::Arc<Known>,
        before: &Project,
        folder: &Path,
        program: &str,
    ) -> Result<Option<(String, Vec<String>)>> {
        let runs_it = |experiment: &Experiment| experiment.group(program).is_some() && !experiment.push;
        let interrupted = Interrupted::listen()?;
        for (plan, experiment) in
            plans.experiments().filter(|(_, own)| runs_it(own) && own.is_asked_for(&self.experiments))
        {
            let cells = cells(experiment, program, before)?;
            if cells.is_empty() {
                continue;
            }
            let current = Current::read(plan, experiment, known);
            let header = Header {
                format: FORMAT,
                chapter: plan.chapter.clone(),
                experiment: experiment.name.clone(),
                effort: Effort::Quick,
                seed: rand::rng().random_range(0..1 << 48),
                cells,
                built: None,
                sources: current.sources,
                revision: revision(project),
                machine: Facts::read().allow_listed(),
                before: State::read(),
            };
            let session = Session {
                project,
                programs: folder.to_owned(),
                link_orders: None,
                before: Some(before.programs()),
                tally: own_executable(),
                experiment,
                plan,
                path: project.side_by_side(&plan.chapter, &experiment.name),
                interrupted: interrupted.clone(),
                progress: &|_, _| {},
            };
            if let Some(cells) = counted(&session, &header, before)? {
                let because =
                    "rewritten, with the same instructions, allocations and system calls per operation".to_owned();
                return Ok(Some((because, cells)));
            }
            if self.count {
                continue;
            }
            let day = header.day().to_owned();
            let timed = timed(plan, experiment, &session.side_by_side(header, self.rounds)?, before)?;
            if let Some(cells) = timed {
                return Ok(Some((format!("rewritten; side by side, on {day}, its numbers were the same"), cells)));
            }
            return Ok(None);
        }
        Ok(None)
    }
}

/// The programs that run otherwise in two checkouts, and are in both.
fn pairs(project: &Project, folder: &Path, before: &Project) -> Result<Vec<Pair>> {
    let (now, then) = (Programs::read(project)?, Programs::read(before)?);
    let names: BTreeSet<String> = now.files.keys().filter(|name| then.files.contains_key(*name)).cloned().collect();
    let (of_now, _) = now.built(project, folder, &names)?;
    let (of_then, _) = then.built(before, &before.programs(), &names)?;
    // Printing has to know them.
    of_now.note_down(&project.programs_built_here())?;
    let pair = |program: String| {
        let code = |built: &Built| built.program.get(&program).map(|own| own.code.clone());
        let [before, after] = match (code(&of_then), code(&of_now)) {
            (Some(before), Some(after)) => [before, after],
            _ => [source(&then.files[&program]), source(&now.files[&program])],
        };
        (before != after).then_some(Pair { program, before, after })
    };
    Ok(names.into_iter().filter_map(pair).collect())
}

const ABOUT: &str = "# Builds of programs that do the same work, by `cargo tally compare-builds`. What is said: benches-src/tally/src/record/known.rs\n\n";

/// The plain cells of a program in a quick run, or in a full one where a quick one has none, each
/// as it is and as it was.
fn cells(experiment: &Experiment, program: &str, before: &Project) -> Result<Vec<Cell>> {
    let is_plain = |cell: &Cell| cell.condition.is_none() && cell.program == program;
    let mut cells = experiment.quick_cells()?;
    if !cells.iter().any(is_plain) {
        cells = experiment.full_cells()?;
    }
    cells.retain(is_plain);
    let there = |cell: &Cell| before.programs().join(&cell.program).is_file();
    cells.retain(|cell| there(&then(experiment, cell, before)));
    let then = cells.iter().map(|cell| then(experiment, cell, before)).collect();
    Ok([cells, then].concat())
}

/// A cell as it was before, under the name that it had.
fn then(experiment: &Experiment, cell: &Cell, before: &Project) -> Cell {
    let has_it = before.programs().join(&cell.program).is_file();
    if has_it { cell.before() } else { renamed::then(&experiment.renamed, cell).before() }
}

/// What was counted of each cell, if all of it is the same; nothing where it differs, or where
/// nothing can be counted.
fn counted(session: &Session, header: &Header, before: &Project) -> Result<Option<Vec<String>>> {
    if !session.experiment.measures.is_empty() {
        return Ok(None);
    }
    let mut said = Vec::new();
    for cell in header.cells.iter().filter(|cell| !cell.is_before()) {
        for count in Count::EVERY {
            let counts = |cell: &Cell| -> Result<Option<BTreeMap<String, f64>>> {
                let Some(Ok(seen)) = session.count_alone(count, cell)? else { return Ok(None) };
                Ok(Some(seen.measures.into_iter().map(|(name, own)| (name, own.values[0])).collect()))
            };
            let (Some(now), Some(before)) = (counts(cell)?, counts(&then(session.experiment, cell, before))?) else {
                return Ok(None);
            };
            let names: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
            for name in names {
                let [now, before] = [&now, &before].map(|counts| counts.get(name).copied().unwrap_or(0.0));
                // Of what happens once in so many operations, chance decides.
                const RARE: f64 = 0.01;
                if (now - before).abs() > SAME_WORK * before.abs() && (now - before).abs() > RARE {
                    say!("tally: {cell}: {name} was {before:.2}, and is {now:.2}");
                    return Ok(None);
                }
            }
            let all = |counts: &BTreeMap<String, f64>| counts.get(count.all()).copied().unwrap_or(0.0);
            said.push(format!("{cell}: {} {:.2}, before {:.2}", count.all(), all(&now), all(&before)));
        }
    }
    Ok((!said.is_empty()).then_some(said))
}

/// What was measured of each cell, if the numbers are the same.
fn timed(plan: &Plan, experiment: &Experiment, record: &Record, before: &Project) -> Result<Option<Vec<String>>> {
    let (mut said, mut ratios) = (Vec::new(), Vec::new());
    for cell in record.header.cells.iter().filter(|cell| !cell.is_before()) {
        let measure = experiment.main_measure();
        let expression =
            Expression::parse(&format!("{cell}.{measure} / {}.{measure}", then(experiment, cell, before)))?;
        let name = format!("{}/{}: {cell}", plan.chapter, experiment.name);
        ensure!(record.lost_of(cell).is_none(), "{name} failed; mend the program and compare again");
        let Ok(quantity) = record.evaluate(&expression)? else { continue };
        let ratio = quantity.estimate.median;
        let (low, high) = quantity.estimate.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        said.push(format!(
            "{cell}: {ratio:.3} [{low:.3}, {high:.3}] of the time before, {} rounds",
            quantity.estimate.rounds
        ));
        ratios.push([ratio, low, high]);
    }
    let is_alike = is_alike(&ratios);
    if !is_alike {
        said.iter().for_each(|cell| say!("tally: {cell}"));
    }
    Ok(is_alike.then_some(said))
}

/// Whether no ratio, each with the ends of its interval, is known to differ from one by more than
/// two parts in a hundred, and one at least is known to within five.
fn is_alike(ratios: &[[f64; 3]]) -> bool {
    let reaches = |[_, low, high]: &[f64; 3]| *low <= 1.0 + ALIKE && *high >= 1.0 - ALIKE;
    let is_precise =
        |[ratio, low, high]: &[f64; 3]| *low >= ratio * (1.0 - PRECISE) && *high <= ratio * (1.0 + PRECISE);
    ratios.iter().all(reaches) && ratios.iter().any(is_precise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_to_differ_or_known_too_little_is_not_alike() {
        assert!(is_alike(&[[1.0, 0.99, 1.01]]));
        assert!(is_alike(&[[1.03, 1.01, 1.05]]), "it may be two parts in a hundred");
        assert!(!is_alike(&[[1.04, 1.03, 1.05]]));
        assert!(!is_alike(&[[0.9, 0.88, 0.97]]));
        assert!(!is_alike(&[[1.0, 0.8, 1.2]]), "it may be anything");
        assert!(is_alike(&[[1.0, 0.8, 1.2], [1.0, 0.99, 1.01]]));
        assert!(!is_alike(&[[1.0, 0.99, 1.01], [1.05, 1.03, 1.07]]), "the second differs");
        assert!(!is_alike(&[]));
    }
}
