//! What is counted of programs in two builds: instructions, allocations and system calls.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use super::{Found, then};
use crate::book::cell::Cell;
use crate::book::count::Count;
use crate::measure::session::Session;
use crate::project::Project;
use crate::record::Header;
use crate::record::known::REWRITTEN;
use crate::statistics::ends;

/// What differs by less is the same work.
const SAME_WORK: f64 = 0.005;

/// What was counted of each cell.
pub fn counted(session: &Session, header: &Header, before: &Project) -> Result<Found> {
    if !session.experiment.measures.is_empty() {
        return Ok(Found::Unknown);
    }
    let mut said = Vec::new();
    for cell in header.cells.iter().filter(|cell| !cell.is_before()) {
        let then = then(session.experiment, cell, before);
        for count in Count::EVERY {
            let counts = |environment_bytes| -> Result<Option<[Counts; 2]>> {
                let of = |cell| counts(session, count, cell, environment_bytes);
                Ok(of(&then)?.zip(of(cell)?).map(<[Counts; 2]>::from))
            };
            let Some(first) = counts(0)? else { return Ok(Found::Unknown) };
            if difference(&[&first]).is_some() {
                // Where the heap begins decides how its blocks fall, and so what allocating takes.
                let others = [700, 2000, 3333].map(counts).into_iter().collect::<Result<Option<Vec<_>>>>()?;
                let Some(others) = others else { return Ok(Found::Unknown) };
                let all: Vec<_> = [&first].into_iter().chain(&others).collect();
                if let Some(how) = difference(&all) {
                    return Ok(Found::Differs(format!("{cell}: {how}")));
                }
            }
            let [before, now] = first.map(|counts| counts.get(count.all()).copied().unwrap_or(0.0));
            said.push(format!("{cell}: {} {now:.2}, before {before:.2}", count.all()));
        }
    }
    let because = format!("{REWRITTEN}, with the same instructions, allocations and system calls per operation");
    Ok(if said.is_empty() { Found::Unknown } else { Found::Same(because, said) })
}

/// What was counted of an operation, by name.
type Counts = BTreeMap<String, f64>;

fn counts(session: &Session, count: Count, cell: &Cell, environment_bytes: usize) -> Result<Option<Counts>> {
    let counted = session.count_alone(count, cell, environment_bytes)?;
    // A tool that was asked to stop as well has counted nothing, which would tell of the program.
    ensure!(
        !session.interrupted.is_asked(),
        "interrupted; what was found so far is kept in data/equivalences.toml. Run again to go on"
    );
    let Some(Ok(seen)) = counted else { return Ok(None) };
    Ok(Some(seen.measures.into_iter().map(|(name, own)| (name.to_string(), own.values[0])).collect()))
}

/// What was counted before and is another number now, in all of these pairs.
fn difference(pairs: &[&[Counts; 2]]) -> Option<String> {
    // Of what happens once in so many operations, chance decides.
    const RARE: f64 = 0.01;
    let names: BTreeSet<&String> = pairs.iter().flat_map(|pair| pair.iter().flat_map(BTreeMap::keys)).collect();
    names.into_iter().find_map(|name| {
        let range = |which: usize| ends(pairs.iter().map(|pair| pair[which].get(name).copied().unwrap_or(0.0)));
        let (before, now) = range(0).zip(range(1))?;
        let apart = (now.0 - before.1).max(before.0 - now.1);
        let differs = apart > SAME_WORK * before.0.abs() && apart > RARE;
        differs.then(|| format!("{name} was {:.2}, and is {:.2}", before.0, now.0))
    })
}
