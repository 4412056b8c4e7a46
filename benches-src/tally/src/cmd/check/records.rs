//! Whether the records that came with the checkout can be read, and are of what lies here.

use anyhow::Result;

use super::checked::Checked;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::print::view::View;
use crate::project::{Machine, Project};
use crate::record::Header;
use crate::record::contributed::Session;
use crate::record::copies::Copies;
use crate::record::freshness::Current;
use crate::record::side_by_side::side_by_side;
use crate::record::store::{Found, Store};

/// What is asked of all records, so that they can be looked at beside everything else.
pub struct Records {
    project: Project,
    machines: Vec<Machine>,
    reference: Option<Machine>,
    experiments: Vec<Planned>,
}

/// An experiment, as it is planned now.
pub struct Planned {
    chapter: String,
    name: String,
    current: Current,
    /// The quantities that are asked of it, by name.
    pub named: Vec<(String, Expression)>,
}

/// The record that pages show of a machine's experiment.
pub struct Shown<'a> {
    pub found: Found<'a>,
    pub planned: &'a Planned,
}

impl Records {
    pub fn of(view: &View) -> Result<Self> {
        let planned = |(plan, experiment): (&Plan, &Experiment)| -> Result<Planned> {
            let named = plan.quantities.iter().filter(|own| own.experiment == experiment.name);
            // What cannot be read as one is said elsewhere.
            let named = named
                .filter_map(|own| Some((own.name.clone(), view.plans.asked(&own.name, None).ok()?.expression)))
                .collect();
            let current = Current::read(plan, experiment, view.known());
            Ok(Planned { chapter: plan.chapter.clone(), name: experiment.name.clone(), current, named })
        };
        let project = view.project.with_all_machines();
        Ok(Self {
            machines: project.machines()?.into_iter().map(Machine::Exported).collect(),
            reference: project.reference(),
            project,
            experiments: view.plans.experiments().map(planned).collect::<Result<_>>()?,
        })
    }

    /// Records that came with the checkout can be read, and those of the reference machine are of
    /// the listings that are shown. Second, which records of other machines are not: those machines
    /// cannot be asked again whenever a listing changes, and where they are shown they say so.
    /// Every number that has a name comes to its unit. Each machine and each record is forgotten
    /// once it was looked at, and all CPUs look. What was found without fault is not read again.
    /// Processes of sessions that are not shown are read with `--bundles`.
    pub fn check(&self) -> Result<(Vec<String>, Vec<String>)> {
        let (mut wrong, mut aged, mut copies) = (Vec::new(), Vec::new(), Copies::default());
        for machine in &self.machines {
            let store = Store::open(&self.project, machine);
            let Some(own) = store.contributed() else { continue };
            wrong.extend(own.unreadable.iter().chain(&own.strays).cloned());
            for session in &own.sessions {
                let noted = copies.note(&session.path, session.headers());
                wrong.extend(noted.err().map(|error| format!("{}: {error}", session.path.display())));
                wrong.extend(private(session));
            }
            let shown = self.shown(&store);
            let checked = Checked::of(&self.project, machine, own, &shown)?;
            let stale: Vec<(&str, String)> = shown.iter().filter_map(Shown::complaint).collect();
            if self.reference.as_ref() == Some(machine) {
                wrong.extend(stale.into_iter().map(|(_, complaint)| complaint));
            } else if !stale.is_empty() {
                let names: Vec<&str> = stale.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                aged.push(format!("{}: measured before their programs changed: {names}", machine.slug()));
            }
            if checked.before() {
                continue;
            }
            let faults: Vec<String> = side_by_side(shown, Shown::faults).into_iter().flatten().collect();
            if faults.is_empty() {
                checked.note();
            }
            wrong.extend(faults);
        }
        let root = format!("{}/", self.project.root().display());
        let without_root = |all: Vec<String>| all.into_iter().map(|words| words.replace(&root, "")).collect();
        Ok((without_root(wrong), without_root(aged)))
    }

    fn shown<'a>(&'a self, store: &'a Store) -> Vec<Shown<'a>> {
        let of = |planned: &'a Planned| {
            let found = store.find(&planned.chapter, &planned.name, &planned.current).ok()??;
            Some(Shown { found, planned })
        };
        self.experiments.iter().filter_map(of).collect()
    }
}

/// The records of a session that say more of their machine than the allow-list has.
fn private(session: &Session) -> Vec<String> {
    let private = session.headers().filter(|header| header.machine.allow_listed() != header.machine);
    let place = |own: &Header| format!("{}, {}/{}", session.path.display(), own.chapter, own.experiment);
    let words = |own| format!("{} holds facts about the machine that are not on the allow-list", place(own));
    private.map(words).collect()
}

impl Shown<'_> {
    /// Its experiment, and what is said of it, if it is of older listings.
    fn complaint(&self) -> Option<(&str, String)> {
        let complaint = self.found.freshness().complaint()?;
        Some((&self.planned.name, format!("{} was {complaint}", self.found.place())))
    }

    /// What is wrong with it.
    fn faults(self) -> Vec<String> {
        let record = match self.found.load() {
            Ok(Some(record)) => record,
            Ok(None) => return Vec::new(),
            Err(error) => return vec![format!("{error:#}")],
        };
        let place = self.found.place();
        let fault = |(name, expression): &(String, Expression)| {
            let error = record.evaluate(expression).err()?;
            Some(format!("{place}: quantity {name}: {error:#}"))
        };
        self.planned.named.iter().filter_map(fault).collect()
    }
}
