//! What numbers come to, each computed once: a number stands on many pages, and all machines are
//! asked for it.

use anyhow::Result;

use super::View;
use crate::book::answer::State;
use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::book::quantities::Asked;
use crate::book::verdict::Verdict;
use crate::compute::doubts::Mark;
use crate::compute::quantity::Measured;
use crate::project::Machine;
use crate::remembered::remembered;

impl View {
    /// Evaluates what is asked for in its experiment's record on the machine that is shown.
    pub fn evaluate(&self, asked: &Asked) -> Result<Measured> {
        self.once("", asked, || match self.kept(asked.plan, asked.experiment)?.as_ref() {
            Err(missing) => Ok(Err(missing.clone())),
            Ok((record, _)) => record.evaluate(&asked.expression),
        })
    }

    /// What is asked of the machine that is shown, computed once in this way.
    pub fn once(
        &self,
        way: &'static str,
        asked: &Asked,
        compute: impl FnOnce() -> Result<Measured>,
    ) -> Result<Measured> {
        remembered(&self.read.measured, (way, self.machine.slug().to_owned(), in_words(asked)), compute)
    }

    /// What has to stand beside a number of the machine that is shown: of the processes beneath it
    /// those that died, since what is left may be what survives; and that it moved. Computed once.
    pub fn marks(&self, asked: &Asked) -> Result<Vec<Mark>> {
        remembered(&self.read.marks, (self.machine.slug().to_owned(), in_words(asked)), || {
            let kept = self.kept(asked.plan, asked.experiment)?;
            Ok(kept.as_ref().as_ref().map_or(Vec::new(), |(record, _)| record.marks(&asked.expression)))
        })
    }

    /// What an experiment's headline comes to in each session of the very same build, on the
    /// machine that is shown. What cannot be read is said where it would be shown.
    pub fn headline_in_each(&self, plan: &Plan, experiment: &Experiment) -> Result<Vec<f64>> {
        let Some(headline) = &experiment.headline else { return Ok(Vec::new()) };
        let key = (self.machine.slug().to_owned(), experiment.name.clone());
        remembered(&self.read.headlines, key, || {
            let expression = Expression::parse(headline)?;
            let kept = self.kept(plan, experiment)?;
            Ok(kept.as_ref().as_ref().map_or(Vec::new(), |(sessions, _)| sessions.medians_of_the_same(&expression)))
        })
    }

    /// What a machine says of a claim, computed once.
    pub fn verdict_once(
        &self,
        machine: &Machine,
        claim: &str,
        compute: impl FnOnce() -> Result<Verdict>,
    ) -> Result<Verdict> {
        let key = (self.machine.slug().to_owned(), machine.slug().to_owned(), claim.to_owned());
        remembered(&self.read.verdicts, key, compute)
    }

    /// How the calculator answers a case with a machine's numbers, computed once.
    pub fn answered_once(
        &self,
        machine: &Machine,
        case: &str,
        compute: impl FnOnce() -> Result<Option<State>>,
    ) -> Result<Option<State>> {
        let key = (machine.slug().to_owned(), *machine == self.machine, case.to_owned());
        remembered(&self.read.answers, key, compute)
    }
}

/// What is asked, as it is remembered.
fn in_words(asked: &Asked) -> String {
    format!("{}: {}", asked.experiment.name, asked.expression)
}
