//! `tally import`: sessions that were measured elsewhere join the machines of the book. A session
//! comes as the bundle that `tally export` wrote over there. That is text within bounds, and no
//! archive that could name a path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::book::plan::Plans;
use crate::cmd::different::Number;
use crate::print::comparison::Compared;
use crate::print::format;
use crate::print::view::View;
use crate::project::{Machine, Project, check_machine};
use crate::record::contributed::{BUNDLE, add};
use crate::record::copies::Copies;
use crate::record::digest::records_of_bundle;
use crate::record::freshness::{Current, Freshness};
use crate::record::known::Known;
use crate::record::machine::Facts;
use crate::record::publishable::{failed, of_one_machine, refuse_private};
use crate::record::{Effort, RawRecord, compression};
use crate::say;

/// Add sessions that were measured elsewhere to data/machines, each from its bundle
#[derive(Args)]
pub struct Import {
    /// Bundles of sessions. What stands in a file's name before the first dot or low line is the
    /// machine's: amd-epyc-4cpu-vm_17.bundle.zst
    #[arg(required = true)]
    bundles: Vec<PathBuf>,
    /// The machine's name, if the files are called otherwise
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// A bundle that may join the others.
struct Fit {
    slug: String,
    records: Vec<RawRecord>,
}

impl Import {
    /// Adds each that may be added. Those that may not are listed with their reasons at the end,
    /// and keep no other from it.
    pub fn run(&self, project: &Project) -> Result<()> {
        let plans = Plans::load(project)?;
        let known = Known::load(project)?;
        let mut copies = Copies::of(project)?;
        let (mut refused, mut machines) = (Vec::new(), Vec::new());
        for file in &self.bundles {
            let added = self.fit(project, &plans, &copies, file).and_then(|Fit { slug, records }| {
                let warnings = warnings(&plans, &known, &records)?;
                let headers: Vec<_> = records.iter().map(|record| record.header.clone()).collect();
                let written = add(project, &Machine::Exported(slug.clone()), records)?;
                if let Some(path) = written.first() {
                    // Some of them may have been there before.
                    let _ = copies.note(path, headers.iter());
                }
                Ok((slug, headers.len(), written, warnings))
            });
            match added.with_context(|| file.display().to_string()) {
                Err(error) => refused.push(format!("{error:#}")),
                Ok((slug, _, written, _)) if written.is_empty() => {
                    say!("tally: {}: every record is in a session of {slug} already", file.display());
                }
                Ok((slug, count, written, warnings)) => {
                    let paths: Vec<String> = written.iter().map(|path| project.place(path)).collect();
                    say!("tally: {}: {count} records are in {}", file.display(), paths.join(", "));
                    warnings.iter().for_each(|warning| say!("tally: warning: {slug}: {warning}"));
                    machines.push(slug);
                }
            }
        }
        machines.sort();
        machines.dedup();
        for slug in machines {
            let view = View::new(project.clone(), Machine::Exported(slug.clone()), None)?;
            for warning in strange_numbers(&view)?.iter().chain(&unlike_its_like(&view)?) {
                say!("tally: warning: {slug}: {warning}");
            }
        }
        let (many, all) = (refused.len(), self.bundles.len());
        ensure!(many == 0, "{many} of {all} sessions were not imported:\n  {}", refused.join("\n  "));
        Ok(())
    }

    /// Reads a bundle, and holds it against everything that a session here has to be.
    fn fit(&self, project: &Project, plans: &Plans, copies: &Copies, file: &Path) -> Result<Fit> {
        let slug = self.name.clone().map_or_else(|| name_of(file), Ok)?;
        check_machine(&slug)?;
        let bytes = compression::read(file)?.context("there is no such file")?;
        let records = records_of_bundle(&bytes)?;
        for record in &records {
            let own = format!("{}/{}", record.header.chapter, record.header.experiment);
            judge(project, plans, record).with_context(|| own)?;
        }
        let place = |record: &RawRecord| format!("{}, {}", file.display(), record.header.experiment);
        let places: Vec<_> = records.iter().map(|record| (place(record), record)).collect();
        let folder = project.data(&Machine::Exported(slug.clone()));
        of_one_machine(&places, &folder)?;
        copies.check(file, records.iter().map(|record| &record.header), &folder)?;
        Ok(Fit { slug, records })
    }
}

/// The machine of a file's name.
fn name_of(file: &Path) -> Result<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let end = name.find(['.', '_']).filter(|_| name.ends_with(BUNDLE));
    let end = end.with_context(|| {
        format!("a bundle is called after its machine, such as amd-epyc-4cpu-vm{BUNDLE}; name it with --name")
    })?;
    Ok(name[..end].to_owned())
}

/// What no record may be that comes from elsewhere.
fn judge(project: &Project, plans: &Plans, record: &RawRecord) -> Result<()> {
    let header = &record.header;
    let (plan, experiment) = plans.experiment(&header.experiment)?;
    ensure!(plan.chapter == header.chapter, "{} is an experiment of {}", experiment.name, plan.chapter);
    ensure!(header.effort != Effort::Test, "it is of a test run, whose figures are no results");
    ensure!(
        header.machine.allow_listed() == header.machine,
        "it says more of the machine than the allow-list has; export it again"
    );
    refuse_private(record, project.root(), &[])?;
    failed(record, &experiment.command()).map_or(Ok(()), |reason| bail!(reason))
}

/// What is said of records that join, and keeps none of them out.
fn warnings(plans: &Plans, known: &Arc<Known>, records: &[RawRecord]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    let (mut stale, mut lacking, mut doubtful) = (Vec::new(), Vec::new(), Vec::new());
    for (plan, experiment) in plans.experiments() {
        let name = experiment.name.as_str();
        let Some(record) = records.iter().find(|record| record.header.experiment == *name) else {
            // What pushes a machine to its limits or takes very long is measured only where that is
            // asked for.
            let is_optional = experiment.push || experiment.only_named;
            lacking.extend((!is_optional && !experiment.full_cells()?.is_empty()).then_some(name));
            continue;
        };
        let current = Current::read(plan, experiment, known);
        stale.extend(matches!(current.freshness(&record.header), Freshness::Stale(_)).then_some(name));
        doubtful.extend((!record.clone().seen().doubts().is_empty()).then_some(name));
        warnings.extend(record.losses().into_iter().map(|lost| format!("{name}: {lost}")));
    }
    for (names, what) in [
        (lacking, "lacks what a full session has"),
        (stale, "was measured by other listings than lie here, and is boxed as stale"),
        (doubtful, "has doubts, which stand under its tables"),
    ] {
        if !names.is_empty() {
            warnings.push(format!("{what}: {}", names.join(", ")));
        }
    }
    Ok(warnings)
}

/// Numbers of a machine that lie outside of all that others show. They are named, and stay.
fn strange_numbers(view: &View) -> Result<Vec<String>> {
    let pairs = view.front.ladder.iter().chain(view.front.dumbbells.iter().flat_map(|own| &own.rows));
    let mut strange = Vec::new();
    for pair in pairs {
        let compared = Compared::of(view, pair)?;
        let there: Vec<(f64, f64)> =
            compared.ratios_elsewhere().filter_map(|(_, number)| number.estimate.interval).collect();
        let (low, high) =
            there.iter().fold((f64::INFINITY, 0_f64), |range, own| (range.0.min(own.0), range.1.max(own.1)));
        let Some((own_low, own_high)) = compared.here.ratio.as_ref().ok().and_then(|number| number.estimate.interval)
        else {
            continue;
        };
        if there.len() > 1 && (own_high < low || own_low > high) {
            strange.push(format!(
                "{} ({}): {}×, and all {} other machines lie between {}× and {}×",
                pair.label,
                pair.detail,
                format::range(&format::number(own_low), &format::number(own_high)),
                there.len(),
                format::number(low),
                format::number(high)
            ));
        }
    }
    strange.sort();
    strange.dedup();
    Ok(strange)
}

/// What a machine says of itself that decides its numbers, beside its mitigations.
const DECIDES: [&str; 4] = ["CPU", "CPU family, model, stepping", "idle driver", "kernel"];

/// Of machines that are alike no larger share of numbers differs for sure. Of the reference and the
/// machine that it took the place of, none of 97 did.
const MOST_UNLIKE: f64 = 0.1;

/// What is said of a machine that describes itself as others do and has other numbers: one of them
/// is not what it says.
fn unlike_its_like(view: &View) -> Result<Option<String>> {
    let described = |machine: &Machine| -> Result<Option<Vec<Option<String>>>> {
        let facts = view.facts(machine)?;
        let of_facts = |facts: Facts| {
            let known = DECIDES.map(|name| facts.known.get(name).cloned());
            known.into_iter().chain([facts.mitigations_on_entry()]).collect()
        };
        Ok(facts.map(of_facts))
    };
    let own = described(&view.machine)?;
    let mut alike = Vec::new();
    for machine in view.others()? {
        if own.is_some() && described(&machine)? == own {
            alike.push(machine);
        }
    }
    let numbers = Number::all(view, &alike)?;
    let unlike = numbers.iter().filter(|number| number.is_outside()).count();
    let names: Vec<&str> = alike.iter().map(Machine::name).collect();
    Ok((unlike as f64 > MOST_UNLIKE * numbers.len() as f64).then(|| {
        format!(
            "it says that its CPU, kernel and idle driver are those of {}, and {unlike} of {} numbers differ for sure \
             from all that is known there: one of them is \
             not what it says",
            names.join(", "),
            numbers.len()
        )
    }))
}
