//! Which machines stand beside the one that is shown.

use anyhow::Result;

use super::View;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::compute::quantity::Missing;
use crate::print::render::Form;
use crate::project::Machine;

impl View {
    /// Who has measured what is at home on a page, if the machine that is shown has measured none
    /// of it. The whole page is then the other's, and its first line says so. On a reader's own
    /// machine that is so where no build would measure any of it unasked.
    pub fn stand_in(&self, page: &str) -> Result<Option<Machine>> {
        let own = self.at_home(page);
        let has = |machine: &Machine| {
            let store = self.store(machine);
            own.iter().any(|(plan, experiment)| store.has(&plan.chapter, &experiment.name))
        };
        let is_to_be_measured = self.machine == Machine::Local && own.iter().any(|(_, own)| own.is_measured_unasked());
        if own.is_empty() || is_to_be_measured || has(&self.machine) {
            return Ok(None);
        }
        Ok(self.beside().into_iter().chain(self.others()?).find(has))
    }

    /// The machine that stands beside local numbers: the reference machine, unless it is the one
    /// that is shown.
    pub fn beside(&self) -> Option<Machine> {
        self.project.reference().filter(|reference| *reference != self.machine)
    }

    /// Every machine with records, each once: the one that is shown, and then those that came with
    /// the checkout. If the one that is shown is among those by its description, it is counted as
    /// itself.
    pub fn machines(&self) -> Result<Vec<Machine>> {
        self.answers(|machine| Ok(Some(machine.clone())))
    }

    /// What each machine answers that can, the one that is shown first. One that came with the
    /// checkout and is the same by its description answers only in its place.
    pub fn answers<T>(&self, mut ask: impl FnMut(&Machine) -> Result<Option<T>>) -> Result<Vec<T>> {
        let mut answers = Vec::from_iter(ask(&self.machine)?);
        let twins = if answers.is_empty() { Vec::new() } else { self.twins()? };
        for machine in self.others()?.into_iter().filter(|own| !twins.contains(own)) {
            answers.extend(ask(&machine)?);
        }
        Ok(answers)
    }

    /// The machines that came with the checkout and have the description of the reader's own, if
    /// that is shown.
    pub fn twins(&self) -> Result<Vec<Machine>> {
        if self.machine != Machine::Local {
            return Ok(Vec::new());
        }
        if let Some(known) = self.read.twins.get() {
            return Ok(known.clone());
        }
        let mut twins = Vec::new();
        if let Some(here) = self.facts(&self.machine)? {
            for other in self.others()? {
                let is_twin = self.facts(&other)?.is_some_and(|there| there.differences(&here).is_empty());
                twins.extend(is_twin.then_some(other));
            }
        }
        Ok(self.read.twins.get_or_init(|| twins).clone())
    }

    /// The machines that came with the checkout, but for the one that is shown.
    pub fn others(&self) -> Result<Vec<Machine>> {
        let own = self.project.data(&self.machine);
        Ok(self.exported()?.iter().filter(|machine| self.project.data(machine) != own).cloned().collect())
    }

    /// The machines that came with the checkout.
    pub(super) fn exported(&self) -> Result<&[Machine]> {
        if let Some(known) = self.read.exported.get() {
            return Ok(known);
        }
        let exported = self.project.machines()?.into_iter().map(Machine::Exported);
        Ok(self.read.exported.get_or_init(|| exported.collect()))
    }

    /// What a sentence calls a machine: by what it is for the reader, if it is anything, else by
    /// its name.
    pub fn phrase(&self, machine: &Machine) -> String {
        if self.project.reference().as_ref() == Some(machine) {
            "the reference machine".to_owned()
        } else {
            machine.name().to_owned()
        }
    }

    /// The reference machine's numbers, for the place of what the reader's own machine was not
    /// asked to measure, or not in rounds enough; nothing where a number is missing for another
    /// reason, which may be a finding.
    pub fn instead(&self, missing: &Missing) -> Option<Self> {
        let is_to_be_measured = matches!(missing.word, "full only" | "not measured" | "too few rounds");
        let reference = self.beside().filter(|_| self.machine == Machine::Local && is_to_be_measured)?;
        Some(self.of_machine(reference))
    }

    /// The same for a page's table or figure of an experiment, if the reference machine has its
    /// record.
    pub fn instead_on(&self, form: Form, missing: &Missing, plan: &Plan, experiment: &Experiment) -> Option<Self> {
        let there = self.instead(missing).filter(|_| form == Form::Page)?;
        there.store(&there.machine).has(&plan.chapter, &experiment.name).then_some(there)
    }
}
