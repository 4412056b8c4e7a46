//! Whether a record can be what it says. One that contradicts itself, or has numbers that nothing
//! can have measured, is refused with the line: printed, it would look as good as any other.

use std::collections::{BTreeSet, HashSet};

use anyhow::{Context, Result, bail, ensure};
use jiff::{Timestamp, ToSpan};
use observation::{Histogram, Measure};
use serde_json::Value;

use crate::book::cell::Cell;
use crate::book::count::Count;
use crate::book::reading;
use crate::name;
use crate::record::machine::{Facts, SETTABLE, State};
use crate::record::names::Named;
use crate::record::private::is_control;
use crate::record::seen::{Seen, Timed};
use crate::record::{End, Failure, Header, Raw, RunOf};

/// A record is at most this long, in bytes. The longest of this book has 3 MB.
pub const MOST_BYTES: u64 = 64 << 20;

/// No window that was timed, and no process, lasts for longer than a day.
const DAY_NS: u64 = 86_400_000_000_000;

/// Nothing is counted beyond this in one window.
const MOST_COUNTED: u64 = 1 << 47;

/// A process has at most so many samples, and a histogram so many buckets. So many of the largest
/// counts add up without an overflow.
const MOST_WINDOWS: usize = 1 << 14;

/// A session has fewer rounds than this. Own ones have at most 40.
const MOST_ROUNDS: u32 = 1000;

/// What was true before anything was measured for this book.
const FIRST_DAY: &str = "2026-01-01T00:00:00Z";

/// What has been read of a record so far, and what its further lines are held against.
pub struct Reader<'a> {
    header: &'a Header,
    seen: HashSet<(u32, usize)>,
}

impl<'a> Reader<'a> {
    /// Of a record with this header, which lies at the place of this chapter and this experiment.
    pub fn new(header: &'a Header, chapter: &str, experiment: &str) -> Result<Self> {
        let (own, wanted) = ([&header.chapter, &header.experiment], [chapter, experiment]);
        ensure!(
            own == wanted,
            "it says that it is of {}/{}, and lies where {chapter}/{experiment} belongs",
            own[0],
            own[1]
        );
        name::check(chapter, "a chapter")?;
        name::check(experiment, "an experiment")?;
        date(&header.before.time)?;
        facts(&header.machine)?;
        ensure!(!header.cells.is_empty(), "it has no cells");
        let mut cells = HashSet::new();
        for cell in &header.cells {
            ensure!(cells.insert(cell), "it has the cell {cell} twice");
        }
        Ok(Self { header, seen: HashSet::new() })
    }

    /// A process, given what is asked of its observation: [`observation()`] or [`seen`].
    pub fn run<T>(&mut self, run: &RunOf<T>, observed: impl FnOnce(&T, &Cell) -> Result<()>) -> Result<()> {
        let cell = self.header.cells.get(run.cell).context("a run of a cell that the header lacks")?;
        ensure!(run.round < MOST_ROUNDS, "round {}", run.round);
        ensure!(self.seen.insert((run.round, run.cell)), "a second run of {cell} in round {}", run.round);
        ensure!(run.took_ms.is_none_or(|ms| ms <= DAY_NS / 1_000_000), "a run that took longer than a day");
        ensure!(run.core_to_core_ns.is_none_or(|ns| ns <= DAY_NS), "CPUs that are more than a day apart");
        if let Some(resumed) = &run.resumed {
            timestamp(&resumed.time)?;
            self.one_boot(resumed)?;
        }
        match (&run.observation, &run.failure) {
            (Some(seen), None) => observed(seen, cell),
            (None, Some(failed)) => failure(failed),
            _ => bail!("a run is either an observation or a failure"),
        }
    }

    /// Rounds before and after a start of the machine are no one session's: memory and caches lie
    /// otherwise, and so may the host.
    fn one_boot(&self, later: &State) -> Result<()> {
        let both = self.header.before.boot.as_ref().zip(later.boot.as_ref());
        ensure!(both.is_none_or(|(before, after)| before == after), "the machine was started anew during the session");
        Ok(())
    }

    pub fn end(&self, end: &End) -> Result<()> {
        // A clock may be set while a session runs: that is a doubt, and no reason to throw its work
        // away.
        timestamp(&end.after.time)?;
        for (name, value) in &end.changed {
            ensure!(SETTABLE.contains(&name.as_str()), "{name:?} is no setting that can change while a session runs");
            short(value)?;
        }
        self.one_boot(&end.after)?;
        let is_share = |share: f64| share.is_finite() && share >= 0.0;
        ensure!(end.headline_half_width.is_none_or(is_share) && is_share(end.target), "a width below 0");
        Ok(())
    }
}

/// When something was measured. Nobody has measured it yet where that is to come.
pub fn date(time: &str) -> Result<Timestamp> {
    let read = timestamp(time)?;
    let first: Timestamp = FIRST_DAY.parse().expect("a literal that is well formed");
    // Clocks differ, and a day is more than any two do that somebody looks at.
    ensure!((first..=Timestamp::now() + 24.hours()).contains(&read), "it says that it was measured on {time}");
    Ok(read)
}

fn timestamp(time: &str) -> Result<Timestamp> {
    time.parse().ok().with_context(|| format!("{time:?} is no date with a time"))
}

/// Whether a report is one on this cell.
pub fn is_of(seen: &Raw, cell: &Cell, chapter: &str) -> bool {
    seen.program == format!("{chapter}/{}", cell.program)
        && seen.placement == cell.placement
        && has_parameters(&seen.parameters, cell)
}

fn has_parameters(seen: &Named<Value>, cell: &Cell) -> bool {
    cell.parameters.iter().all(|(name, value)| seen.get(name.as_str()) == Some(value))
}

/// Whether a process of this cell can have reported it.
pub fn observation(seen: &Raw, cell: &Cell, chapter: &str) -> Result<()> {
    ensure!(is_of(seen, cell, chapter), "what {} reported, {}, stands for {cell}", seen.program, seen.placement);
    ensure!(seen.samples.len() <= MOST_WINDOWS, "{} samples", seen.samples.len());
    for (operations, ns) in seen.samples.times() {
        ensure!(operations > 0 && ns > 0, "a sample without any operation or time");
        lasted(ns)?;
    }
    seen.samples.counts().try_for_each(|(name, count)| counted(name, count))?;
    for own in seen.idle_window.iter().chain(&seen.whole_run) {
        window(own.operations, own.elapsed_ns, own.counters.iter().map(|(name, count)| (name.as_str(), *count)))?;
    }
    results(&seen.measures, &seen.histograms)?;
    seen.unavailable.values().chain(&seen.doubts).try_for_each(|words| short(words))
}

/// Whether an observation of this cell can have come to it.
pub fn seen(seen: &Seen, cell: &Cell) -> Result<()> {
    ensure!(has_parameters(&seen.parameters, cell), "other parameters than those of {cell}");
    seen.timed.iter().try_for_each(timed)?;
    for own in seen.idle_window.iter().chain(&seen.whole_run) {
        window(own.operations, own.elapsed_ns, own.counters.iter().map(|(name, count)| (&**name, *count)))?;
    }
    results(&seen.measures, &seen.histograms)?;
    seen.unavailable.values().chain(&seen.doubts).try_for_each(|words| short(words))
}

/// What samples can have come to: each of them has an operation and a time, and no more than a
/// window can have.
fn timed(timed: &Timed) -> Result<()> {
    let most = MOST_WINDOWS as u64;
    ensure!((1..=most).contains(&timed.samples), "{} samples", timed.samples);
    ensure!(
        timed.operations >= timed.samples && timed.elapsed_ns >= timed.samples,
        "samples without operations or time"
    );
    ensure!(timed.elapsed_ns <= most * DAY_NS, "samples that are longer than a day");
    let counts = timed.counters.values().chain([&timed.operations]);
    ensure!(counts.max().is_none_or(|count| *count <= most * MOST_COUNTED), "counts that nothing can have counted");
    let (ns, cpu_ns) = (timed.ns_per_operation, timed.cpu_ns_per_operation.unwrap_or_default());
    ensure!(ns > 0.0 && ns <= DAY_NS as f64, "{ns} ns for an operation");
    ensure!((0.0..=2.0 * MOST_COUNTED as f64).contains(&cpu_ns), "{cpu_ns} ns of CPU time for an operation");
    Ok(())
}

/// Measures, and distributions of single operations.
fn results(measures: &Named<Measure>, histograms: &Named<Histogram>) -> Result<()> {
    for (name, measure) in measures.iter() {
        measured(name, measure, measures).with_context(|| format!("the measure {}", &**name))?;
    }
    for (name, laps) in histograms.iter() {
        histogram(laps).with_context(|| format!("the histogram {}", &**name))?;
    }
    Ok(())
}

fn window<'a>(operations: u64, elapsed_ns: u64, counters: impl Iterator<Item = (&'a str, u64)>) -> Result<()> {
    lasted(elapsed_ns)?;
    let mut counts = [("operations", operations)].into_iter().chain(counters);
    counts.try_for_each(|(name, count)| counted(name, count))
}

fn lasted(ns: u64) -> Result<()> {
    ensure!(ns <= DAY_NS, "a window that is longer than a day");
    Ok(())
}

fn counted(name: &str, count: u64) -> Result<()> {
    ensure!(count <= MOST_COUNTED, "{count} {name} in one window, which nothing can have counted");
    Ok(())
}

/// A named result: one value, or as many as there were counts held.
fn measured(name: &str, measure: &Measure, all: &Named<Measure>) -> Result<()> {
    let most = MOST_COUNTED as f64;
    for value in &measure.values {
        ensure!(value.is_finite() && value.abs() <= most, "{value} {}", measure.unit);
        ensure!(*value >= 0.0 || is_difference(name, all), "{value} {}, below 0", measure.unit);
    }
    let held = all.get(reading::HELD).map(|held| &held.values);
    let counts = held.map_or(1, Vec::len);
    let values = measure.values.len();
    ensure!(values == 1 || values == counts, "{values} values for {counts} counts of what was held");
    if name == reading::HELD {
        let different: BTreeSet<u64> = measure.values.iter().map(|count| count.to_bits()).collect();
        ensure!(different.len() == values, "the same count twice");
    }
    Ok(())
}

/// Whether a measure is what one reading had beyond another, and so may be below 0.
fn is_difference(name: &str, all: &Named<Measure>) -> bool {
    // Where a process has no cgroup of its own, its total is the same difference, which neighbours
    // move as well.
    let values = |own: &str| all.get(own).map(|measure| &measure.values);
    let stands_in = name == "total_bytes" && values("available_bytes") == values(name);
    Count::named(name).is_some() || name == "available_bytes" || stands_in || name.ends_with("_each")
}

fn histogram(laps: &Histogram) -> Result<()> {
    let bounds = || laps.buckets.iter().map(|(bound, _)| *bound);
    ensure!(laps.buckets.len() <= MOST_WINDOWS, "{} buckets", laps.buckets.len());
    ensure!(bounds().is_sorted_by(|a, b| a < b), "buckets that do not follow one another");
    ensure!(bounds().all(|bound| bound <= DAY_NS), "a lap that is longer than a day");
    ensure!(laps.buckets.iter().all(|(_, count)| *count <= MOST_COUNTED), "more laps than anything can have counted");
    Ok(())
}

fn failure(failure: &Failure) -> Result<()> {
    ensure!(
        !failure.exit.is_empty() && failure.last_lines.len() <= 10,
        "a failure without a reason, or with a long one"
    );
    [&failure.exit].into_iter().chain(&failure.last_lines).try_for_each(|words| short(words))
}

/// What stands under a table has room there, and is text: a terminal would obey the rest.
fn short(words: &str) -> Result<()> {
    const MOST: usize = 2000;
    ensure!(words.len() <= MOST, "a reason or a doubt of more than {MOST} bytes");
    text(words)
}

/// Whether what is said of a machine is text.
pub fn facts(facts: &Facts) -> Result<()> {
    let all = facts.known.iter().chain(&facts.unavailable);
    all.flat_map(|(name, value)| [name, value]).try_for_each(|words| text(words))
}

fn text(words: &str) -> Result<()> {
    let control = words.chars().find(|sign| is_control(*sign));
    ensure!(control.is_none(), "a control character in {words:?}");
    Ok(())
}
