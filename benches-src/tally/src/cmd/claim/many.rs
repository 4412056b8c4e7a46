//! Claims on many machines: on how many each holds, and which fact about them tells best where.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::counts::{Counts, verdict_on};
use super::machines::Row;
use super::{claim_link, sentence};
use crate::book::verdict::Verdict;
use crate::print::escape::html;
use crate::print::format;
use crate::print::table::{Cell, Table};
use crate::print::view::View;
use crate::record::machine::Known;

/// What is known of a machine by the names of facts that decide.
type Facts = BTreeMap<&'static str, String>;

/// A row for each claim on which machines differ.
pub fn table(view: &View, views: &[View], rows: &[&Row]) -> Result<String> {
    let facts: Vec<Facts> = views.iter().map(facts_of).collect::<Result<_>>()?;
    let heads = ["id", "claim", "on how many machines", "the fact that tells best where it holds"];
    let mut table = Table::new("Claims on which machines differ", heads);
    for row in rows {
        let publication = view.published.publication(&row.claim.source)?;
        let on = views.iter().map(|of| verdict_on(view, &of.machine, row.claim));
        let on: Vec<Verdict> = on.collect::<Result<_>>()?;
        let split = Split::of(&facts, &on).map_or("–".to_owned(), |own| html(&own.in_words()));
        let counted = on.into_iter().collect::<Counts>().words().unwrap_or_default();
        let cells = [sentence(row.claim, publication), html(&counted), split].map(Cell::words);
        table.row(claim_link(view, row.chapter, row.claim), cells);
    }
    Ok(table.page())
}

fn facts_of(view: &View) -> Result<Facts> {
    let facts = view.facts(&view.machine)?;
    let deciding = facts.iter().flat_map(|facts| facts.listed()).filter(|fact| fact.decides);
    let known = deciding.filter_map(|fact| match fact.known {
        Known::Yes(value) => Some((fact.name, value.into_owned())),
        Known::No(_) | Known::NotLookedFor => None,
    });
    Ok(known.collect())
}

/// Machines by the value of one fact, with how many there are and on how many of them a claim
/// holds.
struct Split {
    fact: &'static str,
    groups: Vec<(String, usize, usize)>,
}

impl Split {
    /// The fact by which the fewest machines stand with those of the other verdict; nothing if none
    /// tells more than the more frequent verdict does. A value that each machine has for itself
    /// tells nothing.
    fn of(facts: &[Facts], on: &[Verdict]) -> Option<Self> {
        let decided = |own: &Verdict| match own {
            Verdict::Holds | Verdict::PartlyChecked | Verdict::Shifted => Some(true),
            Verdict::DoesNotHold => Some(false),
            _ => None,
        };
        let known: Vec<(&Facts, bool)> =
            facts.iter().zip(on).filter_map(|(facts, own)| Some((facts, decided(own)?))).collect();
        let hold = known.iter().filter(|(_, holds)| *holds).count();
        let frequent = hold.max(known.len() - hold);
        let names: BTreeSet<&'static str> = known.iter().flat_map(|(facts, _)| facts.keys().copied()).collect();
        let splits = names.into_iter().map(|fact| Self::by(fact, &known));
        let useful = splits.filter(|own| own.groups.len() * 2 <= known.len() && own.told() > frequent);
        useful.max_by_key(|own| (own.told(), Reverse(own.groups.len())))
    }

    fn by(fact: &'static str, known: &[(&Facts, bool)]) -> Self {
        let mut groups: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (facts, holds) in known {
            let value = facts.get(fact).cloned().unwrap_or_else(|| "not known".to_owned());
            let group = groups.entry(value).or_default();
            group.0 += 1;
            group.1 += usize::from(*holds);
        }
        let mut groups: Vec<_> = groups.into_iter().map(|(value, (all, hold))| (value, all, hold)).collect();
        groups.sort_by_key(|(_, all, _)| Reverse(*all));
        Self { fact, groups }
    }

    /// Of how many machines the more frequent verdict of their group is their own.
    fn told(&self) -> usize {
        self.groups.iter().map(|(_, all, hold)| (*hold).max(all - hold)).sum()
    }

    fn in_words(&self) -> String {
        /// More would be a table of their own.
        const MOST: usize = 4;
        let group = |(value, all, hold): &(String, usize, usize)| format!("with {value} it holds on {hold} of {all}");
        let mut parts: Vec<String> = self.groups.iter().take(MOST).map(group).collect();
        let rest: Vec<_> = self.groups.iter().skip(MOST).collect();
        if !rest.is_empty() {
            let (all, hold) = rest.iter().fold((0, 0), |sum, (_, all, hold)| (sum.0 + all, sum.1 + hold));
            parts.push(format!("with others on {hold} of {all}"));
        }
        format::capitalized(&format!("{}: {}", self.fact, parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(idle: &str, kernel: &str) -> Facts {
        [("idle driver", idle.to_owned()), ("kernel", kernel.to_owned())].into()
    }

    #[test]
    fn the_fact_is_found_that_tells_where_a_claim_holds() {
        use Verdict::{DoesNotHold, Holds, Shifted, Undecided};
        let machines = [
            facts("haltpoll", "6.1"),
            facts("haltpoll", "6.2"),
            facts("haltpoll", "6.1"),
            facts("none", "6.2"),
            facts("none", "6.1"),
            facts("none", "6.2"),
        ];
        let verdicts = [Holds, Shifted, Holds, DoesNotHold, DoesNotHold, Undecided];
        let split = Split::of(&machines, &verdicts).unwrap();
        assert_eq!(split.in_words(), "Idle driver: with haltpoll it holds on 3 of 3; with none it holds on 0 of 2");
    }

    #[test]
    fn no_fact_is_named_that_tells_no_more_than_the_more_frequent_verdict() {
        use Verdict::{DoesNotHold, Holds};
        let machines = ["6.1", "6.2", "6.3", "6.4"].map(|kernel| facts("none", kernel));
        assert!(Split::of(&machines, &[Holds, Holds, DoesNotHold, Holds]).is_none(), "each its own kernel");
        let machines = [facts("a", "1"), facts("b", "1"), facts("a", "1"), facts("b", "1")];
        assert!(Split::of(&machines, &[Holds, Holds, DoesNotHold, DoesNotHold]).is_none(), "half and half");
        assert!(Split::of(&[], &[]).is_none());
    }
}
