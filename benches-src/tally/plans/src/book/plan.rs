//! What a chapter measures, as data: its experiments and its claims, decided before the numbers
//! exist.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result, ensure};

use super::claim::Claim;
use super::experiment::{Experiment, Parts};
use super::order::{self, Order};
use super::plan_file;
use super::programs::Programs;
use super::quantities::{self, Named};
use crate::book::expression::Expression;
use crate::name;
use crate::project::Project;

/// What a chapter says of its programs, experiments, quantities and claims, each in files of their
/// own.
#[derive(Debug, Clone)]
pub struct Plan {
    pub chapter: String,
    /// What is said of each program once.
    pub programs: Programs,
    /// The experiments in the order in which they are measured.
    pub experiments: Vec<Experiment>,
    /// The numbers that have a name.
    pub quantities: Vec<Named>,
    /// The claims in the order in which they are listed.
    pub claims: Vec<Claim>,
}

/// All plans.
pub struct Plans {
    /// In the order of the chapters' names.
    pub all: Vec<Plan>,
    /// What texts ask for: all machines are asked alike.
    pub(super) asked: RefCell<HashMap<Text, Answer>>,
}

/// What asks for a number, and the experiment that is named beside it.
type Text = (String, Option<String>);

/// Which experiment answers, and how.
type Answer = (String, Expression);

impl Plans {
    /// Reads and checks every plan of the project.
    pub fn load(project: &Project) -> Result<Self> {
        let mut plans = Vec::new();
        for chapter in project.chapters()? {
            name::check(&chapter, "a chapter").with_context(|| format!("in {}", project.benches().display()))?;
            plans.push(Plan::load(project, chapter)?);
        }
        let mut plans = Self { all: plans, asked: RefCell::default() };
        plans.resolve_claims(project)?;
        Ok(plans)
    }

    /// A claim may leave out what the quantities of all chapters say.
    fn resolve_claims(&mut self, project: &Project) -> Result<()> {
        let named: Vec<Named> = self.quantities().cloned().collect();
        for Plan { chapter, claims, .. } in &mut self.all {
            for claim in claims {
                let checked = claim.resolve(&named).and_then(|()| claim.check());
                checked.with_context(|| project.place(&project.claim(chapter, &claim.id)))?;
            }
        }
        Ok(())
    }

    /// The experiment of this name, with its chapter.
    pub fn experiment(&self, name: &str) -> Result<(&Plan, &Experiment)> {
        let all = || self.experiments();
        all().find(|(_, experiment)| experiment.name == name).with_context(|| {
            let known: Vec<&str> = all().map(|(_, experiment)| experiment.name.as_str()).collect();
            format!("unknown experiment {name:?}; there are: {}", known.join(", "))
        })
    }

    /// The claim of this id, with its chapter.
    pub fn claim(&self, id: &str) -> Result<(&Plan, &Claim)> {
        let all = || self.all.iter().flat_map(|plan| plan.claims.iter().map(move |claim| (plan, claim)));
        all().find(|(_, claim)| claim.id == id).with_context(|| {
            let known: Vec<&str> = all().map(|(_, claim)| claim.id.as_str()).collect();
            format!("unknown claim {id:?}; there are: {}", known.join(", "))
        })
    }

    /// Every claim with its chapter.
    pub fn claims(&self) -> impl Iterator<Item = (&Plan, &Claim)> {
        self.all.iter().flat_map(|plan| plan.claims.iter().map(move |claim| (plan, claim)))
    }

    /// Every experiment with its chapter.
    pub fn experiments(&self) -> impl Iterator<Item = (&Plan, &Experiment)> {
        self.all.iter().flat_map(|plan| plan.experiments.iter().map(move |experiment| (plan, experiment)))
    }

    /// The chapter of a program.
    pub fn chapter_of(&self, program: &str) -> Result<&Plan> {
        let found = self.experiments().find(|(_, experiment)| experiment.group(program).is_some());
        let (plan, _) = found.with_context(|| {
            let programs = self.experiments().flat_map(|(_, experiment)| experiment.programs());
            let known: BTreeSet<&str> = programs.collect();
            format!("unknown program {program:?}; there are: {}", known.into_iter().collect::<Vec<_>>().join(", "))
        })?;
        Ok(plan)
    }
}

impl Plan {
    /// Every program of the chapter, each once: in the order of its experiments, and then those
    /// that only others start.
    pub fn all_programs(&self) -> Vec<&str> {
        let planned = self.experiments.iter().flat_map(|experiment| experiment.programs());
        let tools = self.programs.tools.iter().map(String::as_str);
        let mut seen = BTreeSet::new();
        planned.chain(tools).filter(|name| seen.insert(*name)).collect()
    }

    fn load(project: &Project, chapter: String) -> Result<Self> {
        let programs = Programs::load(project, &chapter)?;
        let place = project.order(&chapter);
        let order: Order = plan_file::read_if_any(project, &place)?;
        let experiments = plan_file::read_all::<Experiment>(project, &project.experiments(&chapter))?;
        let claims = plan_file::read_all::<Claim>(project, &project.claims(&chapter))?;
        let experiments = order::sort(experiments, &order.experiments).with_context(|| project.place(&place))?;
        let mut claims: Vec<Claim> = claims.into_iter().map(|(id, own)| own.called(id)).collect();
        claims.sort_by(|a, b| a.place().cmp(&b.place()));
        let mut plan = Self {
            experiments: experiments.into_iter().map(|(name, own)| Experiment { name, ..own }).collect(),
            claims,
            quantities: quantities::load(project, &chapter)?,
            programs,
            chapter,
        };
        for experiment in &mut plan.experiments {
            let checked = experiment.resolve(&plan.programs).and_then(|()| check(project, &plan.chapter, experiment));
            checked.with_context(|| project.place(&project.experiment(&plan.chapter, &experiment.name)))?;
        }
        for claim in &plan.claims {
            check_id(&claim.id).with_context(|| project.place(&project.claim(&plan.chapter, &claim.id)))?;
        }
        Ok(plan)
    }
}

/// An id becomes an anchor.
fn check_id(id: &str) -> Result<()> {
    let is_anchor = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
    ensure!(is_anchor, "{id:?} is no id for a claim; use letters and digits, such as C1");
    Ok(())
}

fn check(project: &Project, chapter: &str, experiment: &Experiment) -> Result<()> {
    name::check(&experiment.name, "an experiment")?;
    for group in &experiment.groups {
        let listing = Project::listing(chapter, &group.program);
        ensure!(
            project.benches().join(&listing).is_file(),
            "unknown program {:?}: there is no benches-src/{listing}",
            group.program
        );
    }
    let (quick, full) = (experiment.quick_cells()?, experiment.full_cells()?);
    for cell in &quick {
        ensure!(full.contains(cell), "the full grid lacks {cell}, which the quick grid has");
        // Else a selector without a condition would mean another cell in a quick record than in a
        // full one.
        let plain = cell.plain();
        ensure!(quick.contains(&plain) || !full.contains(&plain), "the quick grid lacks {plain}, but has {cell}");
    }
    experiment.check_what_it_measures()?;
    for text in experiment.parts.iter().flat_map(Parts::quantities) {
        experiment.answers(&Expression::parse(text)?).context("in a part")?;
    }
    Ok(())
}
