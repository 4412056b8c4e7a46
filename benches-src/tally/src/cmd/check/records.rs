//! Whether the records that came with the checkout can be read, and are of what lies here.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

use crate::book::expression::Expression;
use crate::print::view::View;
use crate::project::Machine;
use crate::record::sources::Current;
use crate::record::{Line, Record};

/// Records that came with the checkout can be read, and those of the reference machine are of the listings that are shown. Second, which
/// records of other machines are not: those machines cannot be asked again whenever a listing changes, and where they are shown they say so.
/// Every number that has a name comes to its unit. Each record is forgotten once it was looked at, and all CPUs look.
pub fn check(view: &View) -> Result<(Vec<String>, Vec<String>)> {
    let current: Vec<Current> = (view.plans.experiments())
        .map(|(plan, experiment)| Current::read(&view.project, &plan.chapter, experiment))
        .collect::<Result<_>>()?;
    let machines: Vec<Machine> = view.project.machines()?.into_iter().map(Machine::Exported).collect();
    let reference = view.project.reference();
    let mut all = Vec::new();
    for machine in &machines {
        for ((plan, experiment), current) in view.plans.experiments().zip(&current) {
            let path = view.project.record(machine, &plan.chapter, &experiment.name);
            let named = plan.quantities.iter().filter(|own| own.experiment == experiment.name);
            // What cannot be read as one is said elsewhere.
            let named: Vec<(&str, Expression)> = named
                .filter_map(|own| Some((own.name.as_str(), view.plans.asked(&own.name, None).ok()?.expression)))
                .collect();
            all.push((path, current, named, reference.as_ref() == Some(machine)));
        }
    }
    let root = view.project.root();
    let next = AtomicUsize::new(0);
    let look = || {
        let mut found = Vec::new();
        while let Some((index, (path, current, named, must_be_fresh))) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            all.get(index).map(|one| (index, one))
        } {
            found.push((index, record(root, path, current, named, *must_be_fresh)));
        }
        found
    };
    let mut found: Vec<(usize, RecordCheck)> = thread::scope(|scope| {
        let workers = (0..thread::available_parallelism().map_or(1, usize::from)).map(|_| scope.spawn(look));
        let workers: Vec<_> = workers.collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("looking at a record does not panic")).collect()
    });
    found.sort_by_key(|(index, _)| *index);
    let (mut wrong, mut aged) = (Vec::new(), Vec::new());
    for (_, check) in found {
        wrong.extend(check.wrong);
        aged.extend(check.aged);
    }
    Ok((wrong, aged))
}

/// What is wrong with a record, and what is said of it if it is of older listings.
#[derive(Default)]
struct RecordCheck {
    wrong: Vec<String>,
    aged: Option<String>,
}

fn record(
    root: &Path,
    path: &Path,
    current: &Current,
    named: &[(&str, Expression)],
    must_be_fresh: bool,
) -> RecordCheck {
    let place = path.strip_prefix(root).unwrap_or(path).display();
    let mut check = RecordCheck::default();
    let record = match Record::load(path) {
        Ok(None) => return check,
        Ok(Some(record)) => record,
        Err(error) => {
            check.wrong.push(format!("{error:#}").replace(&format!("{}/", root.display()), ""));
            return check;
        }
    };
    for (name, expression) in named {
        if let Err(error) = record.evaluate(expression) {
            check.wrong.push(format!("{place}: quantity {name}: {error:#}"));
        }
    }
    let header = record.header;
    if let Some(complaint) = header.sources.freshness(current).complaint() {
        let complaint = format!("{place} was {complaint}");
        if must_be_fresh { check.wrong.push(complaint) } else { check.aged = Some(complaint) }
    }
    if header.machine.allow_listed() != header.machine {
        check.wrong.push(format!("{place} holds facts about the machine that are not on the allow-list"));
    }
    match smuggled(path) {
        Ok(None) => {}
        Ok(Some(line)) => {
            check.wrong.push(format!("{place}, line {line}: holds something that the format of records does not have"))
        }
        Err(error) => check.wrong.push(format!("{place}: {error:#}")),
    }
    check
}

/// A record holds what its format has and nothing more: reading a line and writing it again changes nothing. The first line of which that is not so.
fn smuggled(path: &Path) -> Result<Option<usize>> {
    for (number, line) in BufReader::new(File::open(path)?).lines().enumerate() {
        let line = line?;
        let read: Line = serde_json::from_str(&line)?;
        // Most lines are written today as they were then, to the letter.
        if serde_json::to_string(&read)? == line {
            continue;
        }
        let written: serde_json::Value = serde_json::from_str(&line)?;
        if read.as_written(&written)? != written {
            return Ok(Some(number + 1));
        }
    }
    Ok(None)
}
