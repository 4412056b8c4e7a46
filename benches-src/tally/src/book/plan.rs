//! What a chapter measures, as data: its experiments and its claims, decided before the numbers exist.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::claim::Claim;
use super::experiment::{Experiment, Parts};
use crate::book::expression::Expression;
use crate::book::quantities::{self, Named};
use crate::book::words::Words;
use crate::name;
use crate::project::Project;

/// A chapter's `plan.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The folder's name.
    #[serde(skip)]
    pub chapter: String,
    /// The numbers that have a name, from a file of their own.
    #[serde(skip)]
    pub quantities: Vec<Named>,
    /// What charts and tables call its programs, from a file of their own.
    #[serde(skip)]
    pub words: Words,
    /// The experiments in the order in which they are measured.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// The claims in the order in which they are listed.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
    /// The programs that are no cells, since another program starts them.
    #[serde(rename = "tool", default)]
    pub tools: Vec<Tool>,
}

/// A program that is not measured, but used by those that are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// A file of the chapter's `src/bin`.
    pub name: String,
}

/// All plans, in the order of the chapters' names.
pub struct Plans(pub Vec<Plan>);

impl Plans {
    /// Reads and checks every plan of the project.
    pub fn load(project: &Project) -> Result<Self> {
        let benches = project.benches();
        let mut plans = Vec::new();
        let folders = fs::read_dir(&benches).with_context(|| format!("cannot list {}", benches.display()))?;
        let mut chapters: Vec<String> =
            folders.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        chapters.sort();
        for chapter in chapters {
            let path = project.plan(&chapter);
            if path.is_file() {
                name::check(&chapter, "a chapter").with_context(|| format!("in {}", benches.display()))?;
                plans.push(Plan::load(project, chapter).with_context(|| format!("in {}", path.display()))?);
            }
        }
        Ok(Self(plans))
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
        let all = || self.0.iter().flat_map(|plan| plan.claims.iter().map(move |claim| (plan, claim)));
        all().find(|(_, claim)| claim.id == id).with_context(|| {
            let known: Vec<&str> = all().map(|(_, claim)| claim.id.as_str()).collect();
            format!("unknown claim {id:?}; there are: {}", known.join(", "))
        })
    }

    /// Every claim with its chapter.
    pub fn claims(&self) -> impl Iterator<Item = (&Plan, &Claim)> {
        self.0.iter().flat_map(|plan| plan.claims.iter().map(move |claim| (plan, claim)))
    }

    /// Every experiment with its chapter.
    pub fn experiments(&self) -> impl Iterator<Item = (&Plan, &Experiment)> {
        self.0.iter().flat_map(|plan| plan.experiments.iter().map(move |experiment| (plan, experiment)))
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
    /// Every program of the chapter, each once: in the order of its experiments, and then those that only others start.
    pub fn programs(&self) -> Vec<&str> {
        let planned = self.experiments.iter().flat_map(|experiment| experiment.programs());
        let tools = self.tools.iter().map(|tool| tool.name.as_str());
        let mut seen = BTreeSet::new();
        planned.chain(tools).filter(|name| seen.insert(*name)).collect()
    }

    fn load(project: &Project, chapter: String) -> Result<Self> {
        let text = fs::read_to_string(project.plan(&chapter))?;
        let mut plan: Plan = toml::from_str(&text)?;
        plan.quantities = quantities::load(project, &chapter)?;
        plan.words = Words::load(project, &chapter)?;
        plan.chapter = chapter;
        for experiment in &plan.experiments {
            plan.check(project, experiment).with_context(|| format!("experiment {}", experiment.name))?;
        }
        for claim @ Claim { id, .. } in &plan.claims {
            claim.check().with_context(|| format!("claim {id}"))?;
            let is_anchor = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
            ensure!(is_anchor, "{id:?} is no id for a claim; use letters and digits, such as C1");
        }
        Ok(plan)
    }

    fn check(&self, project: &Project, experiment: &Experiment) -> Result<()> {
        name::check(&experiment.name, "an experiment")?;
        for group in &experiment.cells {
            name::check(&group.program, "a program")?;
            let listing = Project::listing(&self.chapter, &group.program);
            ensure!(
                project.benches().join(&listing).is_file(),
                "unknown program {:?}: there is no benches-src/{listing}",
                group.program
            );
            let grids = || [group.quick.as_ref(), group.full.as_ref()].into_iter().flatten();
            ensure!(grids().next().is_some(), "{} has neither a quick nor a full grid", group.program);
            for grid in grids() {
                grid.check(&group.program)?;
            }
            if let Some(baseline) = &group.beyond {
                ensure!(
                    experiment.group(baseline).is_some(),
                    "{} names an unknown baseline {baseline:?}",
                    group.program
                );
            }
        }
        let (quick, full) = (experiment.quick_cells()?, experiment.full_cells()?);
        for cell in &quick {
            ensure!(full.contains(cell), "the full grid lacks {cell}, which the quick grid has");
            // Else a selector without a condition would mean another cell in a quick record than in a full one.
            let plain = cell.plain();
            ensure!(quick.contains(&plain) || !full.contains(&plain), "the quick grid lacks {plain}, but has {cell}");
        }
        experiment.check_what_it_measures()?;
        for text in experiment.parts.iter().flat_map(Parts::quantities) {
            experiment.answers(&Expression::parse(text)?).context("in a part")?;
        }
        Ok(())
    }
}
