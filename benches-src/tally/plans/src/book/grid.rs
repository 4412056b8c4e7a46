//! Grids: placements, conditions and values of parameters, of which every combination is a cell. A
//! plan writes what a grid adds to what its program says already; what is measured is the whole.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::book::cell::{CONDITIONS, Cell, PLACEMENTS};
use crate::book::programs::{Programs, Series};
use crate::name;

/// Programs with the grid on which each of them is run, as a plan writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// Files of the chapter's `src/bin`, such as `["loop-pipe", "thread-pipe"]`.
    pub programs: Vec<String>,
    /// The grid of a quick run, such as `{ placement = "one-cpu", hops = [2, 100] }`. Absent if
    /// only a full run measures them.
    #[serde(default)]
    pub quick: Option<Written>,
    /// What the grid of a full run has instead of the quick one's: `full = { hops = [2, 100, 2000]
    /// }` keeps the placement. Absent if a full run has the same grid.
    #[serde(default)]
    pub full: Option<Written>,
}

/// A grid as a plan writes it. Besides the keys below, each parameter of the program is one: a
/// value, or a list of values. A parameter that the program has by default may be left out.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "Grid")]
pub struct Written {
    /// Where the threads may run: `"one-cpu"`, `"two-cpus"` or `"free"`, or a list of them.
    #[serde(default)]
    placement: Option<OneOrMany<String>>,
    /// What is changed around the program: `condition = ["none", "spinners"]`. Left out, it is
    /// `"none"`.
    #[serde(default)]
    condition: Option<OneOrMany<String>>,
    #[serde(flatten)]
    parameters: BTreeMap<String, OneOrMany<Value>>,
}

/// A list, which is written as a single value where it has only one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMany<T> {
    /// All of them.
    Many(Vec<T>),
    /// The only one.
    One(T),
}

impl<T: Clone> OneOrMany<T> {
    fn all(&self) -> Vec<T> {
        match self {
            OneOrMany::Many(all) => all.clone(),
            OneOrMany::One(one) => vec![one.clone()],
        }
    }
}

/// A program with its whole grids.
#[derive(Debug, Clone)]
pub struct CellGroup {
    /// A file of the chapter's `src/bin`.
    pub program: String,
    /// Which colour it has in every figure.
    pub series: Series,
    /// The program that does the same input and output without any switch, where the experiment
    /// runs it.
    pub baseline: Option<String>,
    /// The grid of a quick run. Absent where only a full run measures it.
    pub quick: Option<Grid>,
    /// The grid of a full run, where it is larger.
    pub full: Option<Grid>,
}

/// Placements, conditions and parameter values, of which every combination is a cell. Its JSON
/// decides whether a record is stale.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Grid {
    placement: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    condition: Vec<String>,
    #[serde(flatten)]
    parameters: BTreeMap<String, Vec<Value>>,
}

impl Cells {
    /// Each program with its whole grids; its baseline is left to whoever knows which programs are
    /// run beside it.
    pub(super) fn groups(&self, known: &Programs) -> Result<Vec<CellGroup>> {
        ensure!(!self.programs.is_empty(), "an entry of cells names no program");
        self.programs.iter().map(|program| self.group(known, program)).collect()
    }

    fn group(&self, known: &Programs, name: &str) -> Result<CellGroup> {
        name::check(name, "a program")?;
        ensure!(!known.tools.iter().any(|tool| tool == name), "{name} is one of the tools, which no experiment runs");
        let program = known.program(name).ok_or_else(|| anyhow::anyhow!(known.unknown(name, "program")))?;
        let defaults = program.defaults.iter().map(|(parameter, value)| (parameter.clone(), vec![value.clone()]));
        let defaults = Grid { parameters: defaults.collect(), ..Grid::default() };
        let quick = self.quick.as_ref().map(|written| defaults.with(written));
        let full = self.full.as_ref().map(|written| quick.as_ref().unwrap_or(&defaults).with(written));
        ensure!(quick.is_some() || full.is_some(), "{name} has neither a quick nor a full grid");
        for grid in [&quick, &full].into_iter().flatten() {
            grid.check(name)?;
        }
        let (program, series, baseline) = (name.to_owned(), program.series, program.baseline.clone());
        Ok(CellGroup { program, series, baseline, quick, full })
    }
}

/// How a grid says that nothing is changed around the program.
const NO_CONDITION: &str = "none";

impl Grid {
    /// This with what is written in the place of what it had.
    fn with(&self, written: &Written) -> Self {
        let mut grid = self.clone();
        if let Some(placement) = &written.placement {
            grid.placement = placement.all();
        }
        if let Some(condition) = &written.condition {
            grid.condition = condition.all();
        }
        grid.parameters.extend(written.parameters.iter().map(|(name, values)| (name.clone(), values.all())));
        grid
    }

    /// Every combination of it: the parameters by name, then the placements and then the conditions
    /// as they are written.
    pub(super) fn cells(&self, program: &str) -> Vec<Cell> {
        let mut settings = vec![BTreeMap::new()];
        for (name, values) in &self.parameters {
            let extend = |setting: &BTreeMap<String, Value>| {
                let with = |value: &Value| {
                    let mut setting = setting.clone();
                    setting.insert(name.clone(), value.clone());
                    setting
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            settings = settings.iter().flat_map(extend).collect();
        }
        let mut cells = Vec::new();
        for parameters in &settings {
            for placement in &self.placement {
                cells.extend(self.conditions().into_iter().map(|condition| Cell {
                    program: program.to_owned(),
                    parameters: parameters.clone(),
                    placement: placement.clone(),
                    condition,
                }));
            }
        }
        cells
    }

    fn conditions(&self) -> Vec<Option<String>> {
        if self.condition.is_empty() {
            return vec![None];
        }
        self.condition.iter().map(|word| (word != NO_CONDITION).then(|| word.clone())).collect()
    }

    fn check(&self, program: &str) -> Result<()> {
        let known = |what: &str, words: &[String], known: &[&str]| -> Result<()> {
            for word in words {
                let list = known.join(", ");
                ensure!(known.contains(&word.as_str()), "unknown {what} {word:?} of {program}; there are: {list}");
            }
            Ok(())
        };
        ensure!(!self.placement.is_empty(), "{program} has no placement; there are: {}", PLACEMENTS.join(", "));
        known("placement", &self.placement, &PLACEMENTS)?;
        known("condition", &self.condition, &[&[NO_CONDITION][..], &CONDITIONS].concat())?;
        for (parameter, values) in &self.parameters {
            let is_value = |value: &Value| !value.is_array() && !value.is_object();
            ensure!(
                !values.is_empty() && values.iter().all(is_value),
                "{program}: {parameter} takes a value or a list of values"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn programs() -> Programs {
        let text = "tools = [\"load\"]\n[program]\n\
                    loop = { label = \"loop\", series = \"baseline\", defaults = { hops = 500 } }\n\
                    ring = { label = \"ring\", series = \"thread\", baseline = \"loop\", \
                    defaults = { hops = 500, runtime = \"current\" } }\n";
        toml::from_str(text).unwrap()
    }

    fn groups(text: &str) -> Result<Vec<CellGroup>> {
        toml::from_str::<Cells>(text)?.groups(&programs())
    }

    fn json(grid: Option<&Grid>) -> String {
        serde_json::to_value(grid).unwrap().to_string()
    }

    #[test]
    fn what_a_grid_leaves_out_the_program_says_and_a_full_one_what_the_quick_one_says() {
        let text = "programs = [\"loop\", \"ring\"]\nquick = { placement = \"one-cpu\" }\nfull = { hops = [500, 2] }\n";
        let groups = groups(text).unwrap();
        assert_eq!(json(groups[0].quick.as_ref()), r#"{"hops":[500],"placement":["one-cpu"]}"#);
        assert_eq!(json(groups[0].full.as_ref()), r#"{"hops":[500,2],"placement":["one-cpu"]}"#);
        assert_eq!(json(groups[1].quick.as_ref()), r#"{"hops":[500],"placement":["one-cpu"],"runtime":["current"]}"#);
        assert_eq!((groups[1].series, groups[1].baseline.as_deref()), (Series::Thread, Some("loop")));
    }

    #[test]
    fn a_full_grid_alone_has_the_defaults_and_a_condition_comes_after_them() {
        let text = "programs = [\"loop\"]\nfull = \
                    { placement = [\"free\", \"one-cpu\"], condition = [\"none\", \"spinners\"] }\n";
        let groups = groups(text).unwrap();
        assert!(groups[0].quick.is_none());
        let cells = groups[0].full.as_ref().unwrap().cells("loop");
        let written: Vec<String> = cells.iter().map(ToString::to_string).collect();
        let expected = [
            "loop[hops=500, free]",
            "loop[hops=500, free, spinners]",
            "loop[hops=500, one-cpu]",
            "loop[hops=500, one-cpu, spinners]",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        for (text, reason) in [
            ("programs = []\nquick = { placement = \"free\" }", "names no program"),
            ("programs = [\"ring\"]", "neither a quick nor a full grid"),
            ("programs = [\"ring\"]\nquick = { hops = 2 }", "ring has no placement; there are: one-cpu"),
            ("programs = [\"ring\"]\nquick = { placement = \"nowhere\" }", "unknown placement \"nowhere\" of ring"),
            ("programs = [\"ring\"]\nquick = { placement = \"free\", condition = \"rain\" }", "unknown condition"),
            ("programs = [\"ring\"]\nquick = { placement = \"free\", hops = [] }", "hops takes a value"),
            ("programs = [\"ring\"]\nquick = { placement = \"free\", hops = { a = 1 } }", "hops takes a value"),
            ("programs = [\"rings\"]\nquick = { placement = \"free\" }", "did you mean ring?"),
            ("programs = [\"load\"]\nquick = { placement = \"free\" }", "is one of the tools"),
            ("programs = [\"ring\"]\nfast = { placement = \"free\" }", "unknown field `fast`"),
        ] {
            let error = format!("{:#}", groups(text).unwrap_err());
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_grid_has_every_combination_once(
            hops in prop::collection::btree_set(0u64..9, 1..4),
            placements in 1usize..4,
        ) {
            let (placements, hops) = (&PLACEMENTS[..placements], Vec::from_iter(hops));
            let text = format!("programs = [\"ring\"]\n[quick]\nplacement = {placements:?}\nhops = {hops:?}\n");
            let groups = groups(&text).unwrap();
            let cells = groups[0].quick.as_ref().unwrap().cells("ring");
            let written: std::collections::BTreeSet<String> = cells.iter().map(ToString::to_string).collect();
            prop_assert_eq!(written.len(), hops.len() * placements.len());
            prop_assert_eq!(cells.len(), written.len());
        }
    }
}
