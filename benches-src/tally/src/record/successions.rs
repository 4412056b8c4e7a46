//! Programs that were rewritten, and measured side by side with what they took the place of: a record of a listing whose successor takes as
//! long speaks of both. `tally succeed` measures it, and writes down what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::book::plan_file;
use crate::project::Project;
use crate::record::sources::PLAN;

/// One time that programs were rewritten: a file of `data/successions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succession {
    /// The day on which both were measured, in UTC.
    pub day: String,
    /// The machine on which, in a line.
    pub machine: String,
    /// Every file that any of the programs was made of before, by its path in `benches-src`, with its hash.
    pub before: BTreeMap<String, String>,
    /// The same after.
    pub after: BTreeMap<String, String>,
    /// Experiments whose plans call other programs than before, each with the hashes of both.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub plans: BTreeMap<String, Replaced>,
    /// The programs, in the order of their names.
    #[serde(rename = "program")]
    pub programs: Vec<Succeeded>,
}

/// A plan that took the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replaced {
    /// The hash of what it measured.
    pub before: String,
    /// The hash of what it measures.
    pub after: String,
}

/// A program that was rewritten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succeeded {
    /// `chapter/program`.
    pub name: String,
    /// Whether it takes as long as before; see [`Succeeded::is_alike`].
    pub alike: bool,
    /// What was compared.
    pub cells: Vec<Compared>,
}

/// A cell after the rewriting over the same before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// The cell.
    pub cell: String,
    /// The median over rounds.
    pub ratio: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Over so many rounds.
    pub rounds: usize,
}

/// What is still as long.
const ALIKE: f64 = 0.02;

/// An interval that says so must be narrower than this, either way.
const PRECISE: f64 = 0.05;

impl Succeeded {
    /// No cell shows that it takes longer or shorter by more than two parts in a hundred, and one at least is known to within five.
    pub fn is_alike(cells: &[Compared]) -> bool {
        let reaches = |own: &Compared| own.low <= 1.0 + ALIKE && own.high >= 1.0 - ALIKE;
        let is_precise =
            |own: &Compared| own.low >= own.ratio * (1.0 - PRECISE) && own.high <= own.ratio * (1.0 + PRECISE);
        cells.iter().all(reaches) && cells.iter().any(is_precise)
    }
}

impl Succession {
    /// Reads all of them, in the order of their days; none where there is no folder for them.
    pub fn load_all(project: &Project) -> Result<Arc<[Self]>> {
        Ok(plan_file::read_all(project, &project.successions())?.into_iter().map(|(_, own)| own).collect())
    }

    /// Whether what was measured of a program with these files is true of the current ones: each of those that differ was replaced then, and
    /// the program, `chapter/program`, takes as long as before.
    pub fn covers(
        &self,
        experiment: &str,
        program: &str,
        differ: &[String],
        [measured, current]: [&BTreeMap<String, String>; 2],
    ) -> bool {
        // An experiment need not have every file: where a listing was taken apart, it has run one before and runs another now.
        let is = |hash: Option<&String>, known: Option<&String>| hash.is_none() || hash == known;
        let was_replaced = |file: &String| {
            let plan = self.plans.get(experiment).filter(|_| file == PLAN);
            let before = plan.map(|own| &own.before).or(self.before.get(file));
            let after = plan.map(|own| &own.after).or(self.after.get(file));
            is(measured.get(file), before) && is(current.get(file), after)
        };
        self.programs.iter().any(|own| own.name == program && own.alike) && differ.iter().all(was_replaced)
    }

    /// What is said of a record that was measured before.
    pub fn words(&self) -> String {
        format!("the listings, rewritten since: side by side, on {}, they took as long", self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(ratio: f64, low: f64, high: f64) -> Compared {
        Compared { cell: "a[one-cpu]".to_owned(), ratio, low, high, rounds: 12 }
    }

    #[test]
    fn what_is_known_to_differ_or_known_too_little_is_not_alike() {
        assert!(Succeeded::is_alike(&[compared(1.0, 0.99, 1.01)]));
        assert!(Succeeded::is_alike(&[compared(1.03, 1.01, 1.05)]), "it may be two parts in a hundred");
        assert!(!Succeeded::is_alike(&[compared(1.04, 1.03, 1.05)]));
        assert!(!Succeeded::is_alike(&[compared(0.9, 0.88, 0.97)]));
        assert!(!Succeeded::is_alike(&[compared(1.0, 0.8, 1.2)]), "it may be anything");
        assert!(Succeeded::is_alike(&[compared(1.0, 0.8, 1.2), compared(1.0, 0.99, 1.01)]));
        assert!(!Succeeded::is_alike(&[]));
    }

    #[test]
    fn it_covers_what_it_replaced_and_nothing_else() {
        let files = |hash: &str| BTreeMap::from([("c/src/bin/a.rs".to_owned(), hash.to_owned())]);
        let program = |name: &str, alike| Succeeded { name: name.to_owned(), alike, cells: Vec::new() };
        let own = Succession {
            day: "2026-11-26".to_owned(),
            machine: "one".to_owned(),
            before: files("old"),
            after: files("new"),
            plans: BTreeMap::new(),
            programs: vec![program("c/a", true), program("c/b", false)],
        };
        let covers = |program: &str, measured: &str, current: &str| {
            let differ = ["c/src/bin/a.rs".to_owned()];
            own.covers("e", program, &differ, [&files(measured), &files(current)])
        };
        assert!(covers("c/a", "old", "new"));
        assert!(!covers("c/a", "older", "new"), "it was another listing that was replaced");
        assert!(!covers("c/a", "old", "newer"), "it was rewritten again");
        assert!(!covers("c/b", "old", "new"), "it takes another time");
        assert!(!covers("c/unknown", "old", "new"));
    }

    #[test]
    fn a_listing_that_was_taken_apart_is_covered_where_the_plan_was_replaced_as_well() {
        let map = |all: &[(&str, &str)]| {
            all.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let own = Succession {
            day: "2026-11-26".to_owned(),
            machine: "one".to_owned(),
            before: map(&[("c/src/bin/json.rs", "1")]),
            after: map(&[("c/src/bin/json.rs", "2"), ("c/src/bin/json-read.rs", "3")]),
            plans: BTreeMap::from([("e".to_owned(), Replaced { before: "p".to_owned(), after: "q".to_owned() })]),
            programs: vec![Succeeded { name: "c/json-read".to_owned(), alike: true, cells: Vec::new() }],
        };
        let measured = map(&[("c/src/bin/json.rs", "1"), ("plan", "p")]);
        let current = map(&[("c/src/bin/json-read.rs", "3"), ("plan", "q")]);
        let differ: Vec<String> = measured.keys().chain(current.keys()).cloned().collect();
        let covers =
            |experiment, measured: &_, current: &_| own.covers(experiment, "c/json-read", &differ, [measured, current]);
        assert!(covers("e", &measured, &current));
        assert!(!covers("another", &measured, &current), "whose plan was not replaced");
        assert!(!covers("e", &measured, &map(&[("c/src/bin/json-read.rs", "3"), ("plan", "r")])));
        assert!(!covers("e", &map(&[("c/src/bin/json.rs", "0"), ("plan", "p")]), &current));
    }
}
