//! `tally compare-builds`: programs that run otherwise than before, beside what they were. Those
//! that do the same work are written down, so that records of the earlier ones still speak of them.
//! What is counted decides first, and the clock only where nothing can be counted, or where counts
//! differ; before both, a person who names the functions that may.

mod counted;
mod timed;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use rand::RngExt;

use crate::book::cell::Cell;
use crate::book::experiment::Experiment;
use crate::book::plan::{Plan, Plans};
use crate::book::{plan_file, renamed};
use crate::cmd::measure::one_at_a_time;
use crate::measure::child::own_executable;
use crate::measure::git::revision;
use crate::measure::interrupted::Interrupted;
use crate::measure::programs;
use crate::measure::session::Session;
use crate::project::{Machine, Project};
use crate::record::beneath::HARNESS;
use crate::record::contributed::Contributed;
use crate::record::freshness::Current;
use crate::record::known::{Equivalence, Equivalences, Known, REWRITTEN};
use crate::record::machine::{Facts, State};
use crate::record::programs::{Built, Compiled, Programs, functions_that_differ, source};
use crate::record::sources::Sources;
use crate::record::{Effort, FORMAT, Header};
use crate::say;
use counted::counted;
use timed::timed;

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
    /// A function that the clock does not see, as somebody found who read it: programs that
    /// differ in nothing else do the same work
    #[arg(long, value_name = "FUNCTION")]
    but_for: Vec<String>,
}

/// One program in two builds.
struct Pair {
    program: String,
    before: String,
    after: String,
    /// Its sources, where they are the same in both: then only the harness, or what else is beneath
    /// it, made another program of it.
    source: Option<String>,
}

/// What all comparisons of one call have in common.
struct Builds<'a> {
    project: &'a Project,
    plans: &'a Plans,
    known: &'a Arc<Known>,
    before: &'a Project,
    /// Where the programs of today lie.
    folder: &'a Path,
    interrupted: Interrupted,
}

impl CompareBuilds {
    /// Compares, and adds to `data/equivalences.toml`.
    pub fn run(&self, project: &Project) -> Result<()> {
        let plans = Plans::load(project)?;
        for name in &self.experiments {
            plans.experiment(name)?;
        }
        let before = Project::at(&self.before)?;
        let _locks = one_at_a_time(project)?;
        let all = plans.all.iter().flat_map(Plan::all_programs).map(str::to_owned).collect();
        let folder = match &self.programs {
            Some(folder) => folder.clone(),
            None => programs::build_to_measure(project, &all)?,
        };
        let Compared { pairs, same_code, sources } = builds(project, &folder, &before)?;
        let known = Known::load(project)?;
        say!("tally: {} programs run otherwise than in {}", pairs.len(), before.root().display());
        let mut written: Equivalences = plan_file::read_if_any(project, &project.equivalences())?;
        keep(&mut written, project, &sources)?;
        let mut of_harness = OfHarness { same_code, ..OfHarness::default() };
        let interrupted = Interrupted::listen()?;
        let builds = Builds { project, plans: &plans, known: &known, before: &before, folder: &folder, interrupted };
        for pair in pairs {
            let is_known = |own: &&Equivalence| own.is_of(&pair.program, &pair.before, &pair.after);
            let found = match written.all.iter().find(is_known) {
                Some(known) => Found::Same(known.because.clone(), known.cells.clone()),
                None => match self.same_but_for(&builds, &pair.program)? {
                    Some(same) => same,
                    None => self.compared(&builds, &pair.program)?,
                },
            };
            say!("tally: {}: {found}", pair.program);
            let Pair { program, before, after, source } = pair;
            if source.is_some() {
                of_harness.note(&program, &found);
            }
            let (after, because, cells) = match (source, found) {
                (Some(source), _) => (source, String::new(), Vec::new()),
                (None, Found::Same(because, cells)) => (after, because, cells),
                (None, _) => continue,
            };
            add(&mut written, project, Equivalence { program, before, after, because, cells })?;
        }
        let (then, now) = (Known::load(&before)?.harness.clone(), &known.harness);
        match of_harness.shown().filter(|_| then != *now) {
            Some(cells) => {
                let (program, because) = (HARNESS.to_owned(), String::new());
                add(&mut written, project, Equivalence { program, before: then, after: now.clone(), because, cells })
            }
            None => Ok(()),
        }
    }

    /// Whether a program is the same but for functions that the clock does not see. Where such
    /// are asked for, it says which others differ.
    fn same_but_for(&self, builds: &Builds, program: &str) -> Result<Option<Found>> {
        if self.but_for.is_empty() {
            return Ok(None);
        }
        let folders = [&*builds.before.programs(), builds.folder];
        let differ = functions_that_differ(builds.project, program, folders)?;
        let mut seen_by_the_clock = differ.iter().filter(|function| !self.but_for.contains(function)).peekable();
        if seen_by_the_clock.peek().is_some() || differ.is_empty() {
            seen_by_the_clock.for_each(|function| say!("tally: {program}: {function} differs"));
            return Ok(None);
        }
        // What runs while the clock does is the same, so pages have nothing to say.
        let shown = format!("the same machine code but for {}", Vec::from_iter(differ).join(", "));
        Ok(Some(Found::Same(String::new(), vec![shown])))
    }

    /// What shows that a program does the same work, and what was found of each cell.
    fn compared(&self, builds: &Builds, program: &str) -> Result<Found> {
        let Builds { project, plans, known, before, folder, interrupted } = builds;
        let runs_it = |experiment: &Experiment| experiment.group(program).is_some() && !experiment.push;
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
                programs: folder.to_path_buf(),
                link_orders: None,
                before: Some(before.programs()),
                tally: own_executable(),
                experiment,
                plan,
                path: project.side_by_side(&plan.chapter, &experiment.name),
                interrupted: interrupted.clone(),
                progress: &|_, _| {},
            };
            match counted(&session, &header, before)? {
                same @ Found::Same(..) => return Ok(same),
                differs @ Found::Differs(_) if self.count => return Ok(differs),
                Found::Unknown if self.count => continue,
                // The clock tells.
                _ => {}
            }
            let day = header.day().to_owned();
            let timed = timed(plan, experiment, &session.side_by_side(header, self.rounds)?, before)?;
            return Ok(timed.map_or(Found::Unknown, |cells| {
                Found::Same(format!("{REWRITTEN}; side by side, on {day}, its numbers were the same"), cells)
            }));
        }
        Ok(Found::Unknown)
    }
}

/// What was found of a program in two builds.
enum Found {
    /// It does the same work: what shows that, and what was counted or measured of each cell.
    Same(String, Vec<String>),
    /// What was counted is not the same.
    Differs(String),
    /// Nothing can be counted, and the clock does not tell.
    Unknown,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Same(because, shown) if because.is_empty() => f.write_str(&shown.join("; ")),
            Self::Same(because, _) => f.write_str(because),
            Self::Differs(how) => write!(f, "not known to do the same work; {how}"),
            Self::Unknown => f.write_str("not known to do the same work"),
        }
    }
}

/// What programs of the same sources say of the harness that they were compiled with.
#[derive(Default)]
struct OfHarness {
    same_code: usize,
    same: usize,
    differ: Vec<String>,
}

impl OfHarness {
    fn note(&mut self, program: &str, found: &Found) {
        match found {
            Found::Same(..) => self.same += 1,
            Found::Differs(how) => self.differ.push(format!("{program}: {how}")),
            Found::Unknown => {}
        }
    }

    /// Why it does the same work; none where it is not known to. What the heap holds before the
    /// first lap moves what allocating takes, and threads meet at a lock by chance: a few may
    /// differ.
    fn shown(self) -> Option<Vec<String>> {
        const FEWEST: usize = 12;
        let same = self.same_code + self.same;
        let is_same = same >= FEWEST && same >= 9 * self.differ.len();
        let words = [(self.same_code, "have the same machine code"), (self.same, "do the same work")];
        let words = words.into_iter().filter(|(number, _)| *number > 0);
        let words = words.map(|(number, what)| format!("{number} programs of the same sources {what} with it"));
        is_same.then(|| words.chain(self.differ).collect())
    }
}

/// What led to sources that lie here no more leads to the machine code that was made of them.
/// Records that have these sources go on by it too, unless their own machine code leads there.
fn keep(written: &mut Equivalences, project: &Project, sources: &[Earlier]) -> Result<()> {
    let machines = project.machines()?.into_iter().map(|slug| Contributed::of(project, &Machine::Exported(slug)));
    let (machines, known): (Vec<Contributed>, _) = (machines.collect(), written.all.clone());
    for Earlier { program, files, built: Compiled { source: before, code: after } } in sources {
        let led_there = |known: &&mut Equivalence| known.program == *program && known.after == *before;
        written.all.iter_mut().filter(led_there).for_each(|known| known.after.clone_from(after));
        let leads_on = |code: &String| {
            code == after || written.all.iter().any(|known| known.program == *program && known.before == *code)
        };
        let needs_it = |Sources { own, code, .. }: &Sources| {
            source(files.keys().filter_map(|file| own.get_key_value(file))) == *before
                && !code.as_ref().and_then(|code| code.get(program)).is_some_and(leads_on)
        };
        if machines.iter().flat_map(Contributed::records).any(|(_, _, header)| needs_it(&header.sources)) {
            let (program, before, after) = (program.clone(), before.clone(), after.clone());
            let (because, cells) = (String::new(), Vec::new());
            insert(written, Equivalence { program, before, after, because, cells });
        }
    }
    if written.all == known { Ok(()) } else { write(written, project) }
}

/// Adds one, in place of others that begin at the same build. What was found stays, whatever comes
/// of the next.
fn add(written: &mut Equivalences, project: &Project, found: Equivalence) -> Result<()> {
    insert(written, found);
    write(written, project)
}

fn insert(written: &mut Equivalences, found: Equivalence) {
    written.all.retain(|own| (&own.program, &own.before) != (&found.program, &found.before));
    written.all.push(found);
}

fn write(written: &Equivalences, project: &Project) -> Result<()> {
    let path = project.equivalences();
    let text = ABOUT.to_owned() + &toml::to_string(written)?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Two checkouts, of the programs that are in both.
struct Compared {
    /// Those that run otherwise.
    pairs: Vec<Pair>,
    /// How many have the same machine code.
    same_code: usize,
    /// Those with other sources.
    sources: Vec<Earlier>,
}

/// A program of sources that lie here no more.
struct Earlier {
    program: String,
    files: BTreeMap<String, String>,
    built: Compiled,
}

fn builds(project: &Project, folder: &Path, before: &Project) -> Result<Compared> {
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
        let sources = [&then, &now].map(|own| source(&own.files[&program]));
        let source = (sources[0] == sources[1]).then(|| sources[0].clone());
        (before != after).then_some(Pair { program, before, after, source })
    };
    let code = |name: &String| of_now.program.get(name).zip(of_then.program.get(name));
    let same = names.iter().filter(|name| code(name).is_some_and(|(now, then)| now.code == then.code)).count();
    let sources = of_then.program.iter().filter(|(name, _)| source(&then.files[*name]) != source(&now.files[*name]));
    let earlier = |(name, built): (&String, &Compiled)| {
        let (program, files, built) = (name.clone(), then.files[name].clone(), built.clone());
        Earlier { program, files, built }
    };
    let sources = sources.map(earlier).collect();
    Ok(Compared { pairs: names.into_iter().filter_map(pair).collect(), same_code: same, sources })
}

const ABOUT: &str = "# Builds of programs that do the same work, by `cargo tally compare-builds`. What is said: \
                     benches-src/tally/identity/src/known.rs\n\n";

/// The plain cells of a program in a quick run, or in a full one where a quick one has none, each
/// as it is and as it was.
fn cells(experiment: &Experiment, program: &str, before: &Project) -> Result<Vec<Cell>> {
    let is_plain = |cell: &Cell| cell.condition.is_none() && cell.program == program;
    let mut cells = experiment.quick_cells()?;
    if !cells.iter().any(is_plain) {
        cells = experiment.full_cells()?.to_vec();
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
