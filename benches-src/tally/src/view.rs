//! What printing looks at: the plans, one machine's records, and how both relate. Opens only the records it needs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::Result;

use crate::expression::Expression;
use crate::machine::Facts;
use crate::plan::{Experiment, Plan, Plans};
use crate::project::{Machine, Project};
use crate::published::Published;
use crate::quantity::{Measured, Missing};
use crate::record::{Header, Record};
use crate::sources::{Current, Freshness};

/// Everything that a printing verb needs.
pub struct View {
    /// The checkout.
    pub project: Project,
    /// All plans.
    pub plans: Plans,
    /// All published figures.
    pub published: Published,
    /// Whose numbers are shown.
    pub machine: Machine,
    /// The page that is being printed, if it is one.
    pub page: Option<String>,
    records: RefCell<HashMap<(String, String), Rc<Kept>>>,
}

/// What is kept of an experiment on a machine: a record and how fresh it is, or why there is none.
pub type Kept = Result<(Record, Freshness), Missing>;

impl View {
    /// Reads plans and published figures; no record yet.
    pub fn new(project: Project, machine: Machine, page: Option<String>) -> Result<Self> {
        let plans = Plans::load(&project)?;
        let published = Published::load(&project)?;
        Ok(Self { project, plans, published, machine, page, records: RefCell::default() })
    }

    /// The record of an experiment on the machine that is shown.
    pub fn kept(&self, plan: &Plan, experiment: &Experiment) -> Result<Rc<Kept>> {
        self.kept_on(&self.machine, plan, experiment)
    }

    /// The record of an experiment on another machine.
    pub fn kept_on(&self, machine: &Machine, plan: &Plan, experiment: &Experiment) -> Result<Rc<Kept>> {
        let key = (machine.slug().to_owned(), experiment.name.clone());
        if let Some(known) = self.records.borrow().get(&key) {
            return Ok(known.clone());
        }
        let kept = Rc::new(load(&self.project, machine, plan, experiment)?);
        self.records.borrow_mut().insert(key, kept.clone());
        Ok(kept)
    }

    /// What was measured and where, without the measurements: the header of a record and how fresh it is. `None` where there is
    /// none that can be read.
    pub fn header_on(
        &self,
        machine: &Machine,
        plan: &Plan,
        experiment: &Experiment,
    ) -> Result<Option<(Header, Freshness)>> {
        let path = self.project.record(machine, &plan.chapter, &experiment.name);
        let Ok(Some(header)) = Record::load_header(&path) else { return Ok(None) };
        let freshness = freshness(&self.project, machine, plan, experiment, &header)?;
        Ok(Some((header, freshness)))
    }

    /// The machine that stands beside local numbers: the reference machine, unless it is the one that is shown.
    pub fn beside(&self) -> Option<Machine> {
        self.project.reference().filter(|reference| *reference != self.machine)
    }

    /// Every machine with records: the one that is shown, and then those that came with the checkout.
    pub fn machines(&self) -> Result<Vec<Machine>> {
        let exported = self.project.machines()?.into_iter().map(Machine::Exported);
        let others = exported.filter(|machine| *machine != self.machine);
        Ok([self.machine.clone()].into_iter().chain(others).collect())
    }

    /// What stands behind the name of the reference machine, and of no other.
    pub fn reference_mark(&self, machine: &Machine) -> &'static str {
        if self.project.reference().as_ref() == Some(machine) { " (reference)" } else { "" }
    }

    /// Evaluates an expression in an experiment's record on the machine that is shown.
    pub fn evaluate(&self, plan: &Plan, experiment: &Experiment, expression: &Expression) -> Result<Measured> {
        match self.kept(plan, experiment)?.as_ref() {
            Err(missing) => Ok(Err(missing.clone())),
            Ok((record, _)) => record.evaluate(expression),
        }
    }
}

fn load(project: &Project, machine: &Machine, plan: &Plan, experiment: &Experiment) -> Result<Kept> {
    let path = project.record(machine, &plan.chapter, &experiment.name);
    let measure = experiment.command();
    let record = match Record::load(&path) {
        Ok(Some(record)) => record,
        Ok(None) => {
            if *machine == Machine::Local && experiment.is_full_only() {
                return Ok(Err(Missing::new("full only", format!("run: {measure}"))));
            }
            let reason = match machine {
                Machine::Local if experiment.push => {
                    format!(
                        "because it pushes this machine to a limit, which a build does only when asked to; run: {measure}"
                    )
                }
                Machine::Local => format!("run: {measure}"),
                Machine::Exported(slug) => {
                    format!(
                        "machine {slug} has no record of {}{}",
                        experiment.name,
                        elsewhere(project, plan, experiment)?
                    )
                }
            };
            return Ok(Err(Missing::new("not measured", reason)));
        }
        Err(error) => {
            // The path within the checkout is enough for a page; where the checkout lies is nobody's business.
            let root = format!("{}/", project.root().display());
            let reason = format!("{error:#}").replace(&root, "");
            let reason = if *machine == Machine::Local { format!("{reason}. Run: {measure}") } else { reason };
            return Ok(Err(Missing::new("unreadable", reason)));
        }
    };
    let freshness = freshness(project, machine, plan, experiment, &record.header)?;
    Ok(Ok((record, freshness)))
}

/// Which machines do have a record that the shown one lacks, and how to see it: no number of theirs stands in its place.
fn elsewhere(project: &Project, plan: &Plan, experiment: &Experiment) -> Result<String> {
    let has =
        |slug: &String| project.record(&Machine::Exported(slug.clone()), &plan.chapter, &experiment.name).exists();
    let others: Vec<String> = project.machines()?.into_iter().filter(has).collect();
    Ok(match &others[..] {
        [] => format!("; to measure it on yours: {}", experiment.command()),
        [first, ..] => format!(
            "; {} has one, which show = \"{first}\" in book.toml puts on the pages",
            others.join(" as well as ")
        ),
    })
}

fn freshness(
    project: &Project,
    machine: &Machine,
    plan: &Plan,
    experiment: &Experiment,
    header: &Header,
) -> Result<Freshness> {
    let current = Current::read(project, &plan.chapter, experiment)?;
    let freshness = header.sources.freshness(&current);
    if *machine == Machine::Local && freshness == Freshness::Fresh {
        let differences = header.machine.differences(&Facts::read_identity());
        if !differences.is_empty() {
            return Ok(Freshness::Older(differences.into_iter().map(str::to_owned).collect()));
        }
    }
    Ok(freshness)
}
