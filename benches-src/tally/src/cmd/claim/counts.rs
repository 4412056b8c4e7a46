//! What all machines say of a claim: the one that is shown, and those of `data/machines`.

use std::collections::BTreeMap;

use anyhow::Result;

use super::part::{expected_of, figure_of};
use super::together;
use crate::book::claim::Claim;
use crate::book::verdict::Verdict;
use crate::compute::judging::judge_figure;
use crate::print::comparison::elsewhere;
use crate::print::view::View;
use crate::project::Machine;

/// On how many machines a claim has which verdict.
#[derive(Debug, Default)]
pub struct Counts(BTreeMap<Verdict, usize>);

impl Counts {
    /// On every machine whose records speak of the programs of today.
    pub fn of(view: &View, claim: &Claim) -> Result<Self> {
        Ok(verdicts(view, claim)?.into_iter().collect())
    }

    /// How many machines measured it.
    pub fn all(&self) -> usize {
        self.0.values().sum()
    }

    /// On how many it has a verdict.
    pub fn with(&self, verdict: Verdict) -> usize {
        self.0.get(&verdict).copied().unwrap_or(0)
    }

    /// What at least half of them say. One that says neither yes nor no contradicts no other.
    pub fn verdict(&self) -> Verdict {
        let half = |count: usize| 2 * count >= self.all();
        let decided: Vec<Verdict> =
            self.0.iter().filter(|(own, count)| !own.is_open() && half(**count)).map(|(own, _)| *own).collect();
        let [close, open] = [Verdict::TooClose, Verdict::Undecided].map(|own| self.with(own));
        match decided[..] {
            _ if self.all() == 0 => Verdict::NotMeasured,
            [one] => one,
            [] if half(close + open) && close > open => Verdict::TooClose,
            [] if half(close + open) => Verdict::Undecided,
            _ => Verdict::Divided,
        }
    }

    /// `holds on 61, does not hold on 30, undecided on 9 of 100 machines that measured it`; nothing
    /// where those are one, or none.
    pub fn words(&self) -> Option<String> {
        let all = self.all();
        (all > 1).then(|| format!("{} of {all} machines that measured it", self.parts()))
    }

    /// The same for a cell of a table whose head says of what it counts.
    pub fn in_short(&self) -> Option<String> {
        let all = self.all();
        match self.0.keys().collect::<Vec<_>>()[..] {
            _ if all < 2 => None,
            [own] => Some(format!("{} on each of {all}", own.words())),
            _ => Some(format!("of {all}: {}", self.parts())),
        }
    }

    fn parts(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(|(own, count)| format!("{} on {count}", own.words())).collect();
        parts.join(", ")
    }

    /// For a script.
    pub fn json(&self) -> serde_json::Value {
        self.0
            .iter()
            .map(|(own, count)| (own.words().to_owned(), (*count).into()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

impl FromIterator<Verdict> for Counts {
    /// What is not measured counts nowhere.
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts.into_iter().filter(|own| *own != Verdict::NotMeasured) {
            *counts.0.entry(verdict).or_default() += 1;
        }
        counts
    }
}

/// What each machine says that measured it.
pub fn verdicts(view: &View, claim: &Claim) -> Result<Vec<Verdict>> {
    let measured = |verdict: &Verdict| *verdict != Verdict::NotMeasured;
    view.answers(|machine| Ok(Some(verdict_on(view, machine, claim)?).filter(measured)))
}

/// What the records of a machine say as far as they speak of the programs of today: what other
/// programs took is no answer to the same question.
pub fn verdict_on(view: &View, machine: &Machine, claim: &Claim) -> Result<Verdict> {
    let judge = |part| -> Result<_> {
        let asked = claim.asked(&view.plans, part)?;
        let (expected, figure) = (expected_of(&view.published, part)?, figure_of(&view.published, part)?);
        Ok(judge_figure(&elsewhere(view, machine, &asked)?, &expected, figure.map(|(value, _)| value)))
    };
    view.verdict_once(machine, &claim.id, || {
        let parts: Vec<_> = claim.parts.iter().map(judge).collect::<Result<_>>()?;
        Ok(together(claim, parts.into_iter()).verdict)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Divided, DoesNotHold, Holds, NotMeasured, Shifted, TooClose, Undecided};

    #[test]
    fn half_of_the_machines_decide_and_the_undecided_contradict_nobody() {
        for (verdicts, expected) in [
            (&[Holds, Holds, DoesNotHold][..], Holds),
            (&[Holds, Undecided], Holds),
            (&[Holds, DoesNotHold], Divided),
            (&[Holds, Shifted, DoesNotHold], Divided),
            (&[Holds, Undecided, TooClose], Undecided),
            (&[DoesNotHold, TooClose, TooClose], TooClose),
            (&[Holds, Holds, Shifted, Undecided, DoesNotHold], Divided),
            (&[NotMeasured, Shifted], Shifted),
            (&[NotMeasured], NotMeasured),
        ] {
            assert_eq!(verdicts.iter().copied().collect::<Counts>().verdict(), expected, "{verdicts:?}");
        }
    }

    #[test]
    fn verdicts_are_counted_in_words() {
        let words = |verdicts: &[Verdict]| verdicts.iter().copied().collect::<Counts>().words();
        let said = "holds on 2, another figure on 1, undecided on 1 of 4 machines that measured it";
        assert_eq!(words(&[Holds, Shifted, Holds, Undecided, NotMeasured]).unwrap(), said);
        assert_eq!(words(&[Holds, NotMeasured]), None, "one machine is the one that is shown");
        let short = |verdicts: &[Verdict]| verdicts.iter().copied().collect::<Counts>().in_short();
        assert_eq!(short(&[Holds, Shifted, Holds]).unwrap(), "of 3: holds on 2, another figure on 1");
        assert_eq!(short(&[Holds, Holds, NotMeasured]).unwrap(), "holds on each of 2");
        assert_eq!(short(&[Holds, NotMeasured]), None);
    }
}
