//! What machines show of a prediction. Two machines are compared by how many times as dear the thing is on one, over how many times as slow that
//! one is anyway: a machine that is slower at everything is foretold nothing.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::book::verdict::Verdict;
use crate::compute::apart::{over, to_the};
use crate::compute::judging::{self, Expectation, Judgement};
use crate::compute::quantity::{Measured, Missing, Quantity};
use crate::print::comparison::elsewhere;
use crate::print::dearer::{Dearer, Foretold};
use crate::print::takeaways::Pair;
use crate::print::view::View;
use crate::project::Machine;

/// A machine, and how many times as dear it is there as on the cheapest.
#[derive(Clone)]
pub struct Price {
    pub machine: Machine,
    /// Beside what does not contain it.
    pub dearer: Quantity,
}

pub struct Found<'a> {
    /// Where it is the cheapest.
    pub cheapest: Option<Machine>,
    /// Where it is the dearest.
    pub dearest: Option<Price>,
    /// In the order of the ladder.
    pub rows: Vec<Row<'a>>,
}

pub struct Row<'a> {
    pub rung: &'a Pair,
    /// What was said of it.
    pub foretold: &'a Foretold,
    /// The machines, the cheapest first; those of which nobody knows how dear it is are left out.
    pub on: Vec<OnMachine>,
}

/// A rung on a machine.
pub struct OnMachine {
    pub machine: Machine,
    pub ratio: Measured,
    /// How many times the cheapest machine's ratio it was to be.
    pub foretold: Option<Quantity>,
    /// How many times it is.
    pub change: Option<Quantity>,
    /// What that comes to; nothing on the cheapest itself.
    judgement: Option<Judgement>,
}

impl OnMachine {
    /// What is said of it.
    pub fn word(&self) -> &'static str {
        self.judgement.map_or("compared with", |own| own.verdict.words())
    }
}

impl Row<'_> {
    /// What is said of all machines: the worst that is known.
    pub fn verdict(&self) -> Verdict {
        judging::all_of(self.judgements().filter(|own| own.verdict != Verdict::NotMeasured)).verdict
    }

    fn judgements(&self) -> impl Iterator<Item = Judgement> {
        self.on.iter().filter_map(|on| on.judgement)
    }

    /// The same in words, with how many machines say so if they differ.
    pub fn words(&self) -> String {
        let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
        for own in self.judgements() {
            *counts.entry(own.verdict).or_default() += 1;
        }
        if counts.len() < 2 {
            return self.verdict().words().to_owned();
        }
        // The worst first, and last what says nothing.
        let lacking = counts.remove(&Verdict::NotMeasured).map(|count| (Verdict::NotMeasured, count));
        let each = counts.into_iter().rev().chain(lacking);
        each.map(|(verdict, count)| format!("{} on {count}", verdict.words())).collect::<Vec<_>>().join(", ")
    }

    /// Whether its ratio has surely changed as foretold, whatever the figure, between the two machines that are the farthest apart; nothing where it
    /// was not to change, or nobody knows.
    fn moved(&self) -> Option<bool> {
        let last = self.on.last()?;
        let (was_to_be, change) = (last.foretold.as_ref()?, last.change.as_ref()?);
        let (low, high) = change.judged()?;
        let is_so = if was_to_be.estimate.median > 1.0 { low > 1.0 } else { high < 1.0 };
        (self.foretold.pays.power() != 0).then_some(is_so)
    }
}

impl<'a> Found<'a> {
    /// Holds every machine's numbers against what was said.
    pub fn of(view: &'a View, planned: &'a Dearer) -> Result<Self> {
        let prices = prices(view, planned)?;
        let rungs = view.front.ladder.iter().filter_map(|rung| {
            let foretold = planned.rows.iter().find(|row| row.ratio == rung.ratio)?;
            Some((rung, foretold))
        });
        let row = |(rung, foretold): (&'a Pair, &'a Foretold)| -> Result<Row<'a>> {
            Ok(Row { rung, foretold, on: on_machines(view, planned, foretold, &prices)? })
        };
        let rows = rungs.map(row).collect::<Result<Vec<_>>>()?;
        let dearest = if prices.len() > 1 { prices.last().cloned() } else { None };
        Ok(Self { cheapest: prices.first().map(|price| price.machine.clone()), dearest, rows })
    }
}

impl Found<'_> {
    /// How many of those that were to change surely have.
    pub fn moved(&self) -> String {
        let moved: Vec<bool> = self.rows.iter().filter_map(Row::moved).collect();
        match (moved.len(), moved.iter().filter(|own| **own).count()) {
            (0, _) => String::new(),
            (1, surely) => format!("Of one ratio foretold to change, {surely} surely changes in that direction."),
            (all, surely) => format!("Of {all} ratios foretold to change, {surely} surely change in that direction."),
        }
    }
}

/// How dear it is on each machine that says so, the cheapest first.
fn prices(view: &View, planned: &Dearer) -> Result<Vec<Price>> {
    let mut known = Vec::new();
    for machine in view.machines()? {
        let cost = number(view, &machine, &planned.cost)?.ok();
        let beside = number(view, &machine, &planned.beside)?.ok();
        if let Some((cost, beside)) = cost.zip(beside)
            && let Some(own) = over(&cost, &beside)
        {
            known.push((machine, own));
        }
    }
    known.sort_by(|(_, a), (_, b)| a.estimate.median.total_cmp(&b.estimate.median));
    let Some((_, cheapest)) = known.first().cloned() else { return Ok(Vec::new()) };
    let price = |(machine, own): (Machine, Quantity)| Some(Price { dearer: over(&own, &cheapest)?, machine });
    Ok(known.into_iter().filter_map(price).collect())
}

/// A number on any machine, unless it is of other programs than those that are shown.
fn number(view: &View, machine: &Machine, name: &str) -> Result<Measured> {
    let asked = view.plans.asked(name, None)?;
    elsewhere(view, machine, &asked)
}

fn on_machines(view: &View, planned: &Dearer, foretold: &Foretold, prices: &[Price]) -> Result<Vec<OnMachine>> {
    let mut all: Vec<OnMachine> = Vec::new();
    for Price { machine, dearer } in prices {
        let ratio = number(view, machine, &foretold.ratio)?;
        let Some(first) = all.first() else {
            all.push(OnMachine { machine: machine.clone(), ratio, foretold: None, change: None, judgement: None });
            continue;
        };
        let change = first.ratio.as_ref().ok().zip(ratio.as_ref().ok()).and_then(|(low, own)| over(own, low));
        let was_to_be = to_the(foretold.pays.power(), dearer);
        let judgement = Some(judge(change.as_ref(), &was_to_be, planned.within));
        all.push(OnMachine { machine: machine.clone(), ratio, foretold: Some(was_to_be), change, judgement });
    }
    Ok(all)
}

/// Whether what was found is what was foretold, within a factor either way, over the whole interval of both.
fn judge(change: Option<&Quantity>, foretold: &Quantity, within: f64) -> Judgement {
    let off = change.and_then(|change| over(change, foretold));
    let off = off.ok_or(Missing::new("not measured", "it lacks a number"));
    judging::judge(&off, &Expectation::About { value: 1.0, within, no_effect: None })
}
