//! Whether programs have what plans ask of them, by what each says of itself when it is asked to
//! describe itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use observation::{DescribedMeasure, DescribedParameter, Description};

use crate::book::cell::{Cell, plain};
use crate::book::experiment::Experiment;
use crate::book::reading;
use crate::name::nearest;
use crate::print::view::View;

/// What is asked of programs that they do not have, of the built programs in a folder.
pub fn check(view: &View, programs: &Path) -> Result<Vec<String>> {
    let mut wrong = BTreeSet::new();
    for plan in &view.plans.all {
        let mut described = BTreeMap::new();
        for program in plan.all_programs() {
            match describe(programs, &plan.chapter, program) {
                Ok(description) => drop(described.insert(program, description)),
                Err(error) => drop(wrong.insert(format!("{program}: {error:#}"))),
            }
        }
        for experiment in &plan.experiments {
            let place = view.project.place(&view.project.experiment(&plan.chapter, &experiment.name));
            for cell in experiment.full_cells()? {
                let Some(description) = described.get(cell.program.as_str()) else { continue };
                let asked = parameters(cell, description).into_iter().chain(measures(experiment, description));
                wrong.extend(asked.map(|wrong| format!("{place}: of {}: {wrong}", cell.program)));
            }
        }
    }
    Ok(wrong.into_iter().collect())
}

/// What a program says it has.
fn describe(programs: &Path, chapter: &str, program: &str) -> Result<Description> {
    let path = programs.join(program);
    let output = Command::new(&path).arg("--describe").output().with_context(|| {
        let (path, manifest) = (path.display(), "benches-src/Cargo.toml");
        format!("{path} cannot be started; run: cargo build --release --manifest-path {manifest} --workspace --bins")
    })?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "--describe ended with {}: {}", output.status, errors.trim());
    let description: Description =
        serde_json::from_slice(&output.stdout).context("--describe printed no description")?;
    let name = format!("{chapter}/{program}");
    ensure!(description.program == name, "it calls itself {} instead of {name}", description.program);
    Ok(description)
}

/// The parameters of a cell that its program does not have, or cannot set to that.
fn parameters(cell: &Cell, description: &Description) -> Vec<String> {
    let wrong = |(name, value): (&String, &serde_json::Value)| {
        let known = || description.parameters.iter();
        let Some(own) = known().find(|own| own.name == *name) else {
            return Some(format!("it has no parameter {name}{}", meant(name, known().map(|own| own.name.as_str()))));
        };
        let DescribedParameter { values, .. } = own;
        let (value, words) = (plain(value), values.join(", "));
        (!values.is_empty() && !values.contains(&value)).then(|| format!("{name} is one of {words}, and not {value}"))
    };
    cell.parameters.iter().filter_map(wrong).collect()
}

/// The measures of an experiment that a program does not report. What is counted from outside is
/// asked of no program.
fn measures(experiment: &Experiment, description: &Description) -> Vec<String> {
    let reported = experiment.measures.iter().chain(&experiment.further_measures).map(|name| reading::part(name).0);
    let known = || description.measures.iter();
    let has = |name: &str, own: &DescribedMeasure| match own.name.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => own.name == name,
    };
    let unknown = reported.filter(|name| !known().any(|own| has(name, own)));
    unknown
        .map(|name| format!("it has no measure {name}{}", meant(name, known().map(|own| own.name.as_str()))))
        .collect()
}

/// The name that may have been meant.
fn meant<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(typed, known).map_or(String::new(), |name| format!(" (did you mean {name}?)"))
}
