//! A record's processes as columns: each name stands once, and what all processes of a cell have in common stands once too.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use observation::{Histogram, Measure, Window};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::column::{Column, by_name, maps};
use crate::record::machine::State;
use crate::record::seen::{Seen, Timed};
use crate::record::{Failure, Record, Run};

/// A record that was read takes no more room than so many bytes and a few times that. The longest of this book has 16 MB by this account.
const MOST_BYTES: usize = 256 << 20;

type Named<T> = BTreeMap<String, Column<Option<T>>>;

/// All processes of a record, in the order in which they ran.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runs {
    round: Vec<u32>,
    cell: Vec<usize>,
    environment_bytes: Column<usize>,
    link_order: Column<Option<u32>>,
    took_ms: Column<Option<u64>>,
    core_to_core_ns: Column<Option<u64>>,
    /// By its place among the processes.
    resumed: BTreeMap<usize, State>,
    /// The same of those that failed.
    failures: BTreeMap<usize, Failure>,
    /// What the others saw, by cell.
    seen: Vec<Many>,
}

/// What the processes of one cell saw that did not fail.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Many {
    parameters: Named<Value>,
    timed: ManyTimed,
    measures: Units<Vec<f64>>,
    histograms: Units<Buckets>,
    idle_window: Windows,
    whole_run: Windows,
    unavailable: Named<String>,
    doubts: Column<Vec<String>>,
}

/// What samples came to: as many values as there are processes, but of those without samples only that.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManyTimed {
    samples: Column<u64>,
    operations: Column<u64>,
    elapsed_ns: Column<u64>,
    ns_per_operation: Column<f64>,
    cpu_ns_per_operation: Column<Option<f64>>,
    one_stands_out: Column<bool>,
    counters: Named<u64>,
}

/// Windows of those processes that have one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Windows {
    has: Column<bool>,
    operations: Column<u64>,
    elapsed_ns: Column<u64>,
    counters: Named<u64>,
}

/// Values with a unit, by name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Units<T> {
    #[serde(bound(deserialize = "T: Deserialize<'de>"))]
    values: Named<T>,
    units: Named<String>,
}

/// A histogram's buckets: each bound by how far it lies above the one before it, which says as much in half the room.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Buckets {
    steps: Vec<u64>,
    counts: Vec<u64>,
}

impl Buckets {
    fn of(histogram: &Histogram) -> Self {
        let mut before = 0;
        let mut steps = Vec::new();
        for (bound, _) in &histogram.buckets {
            // Bounds of what was sound follow one another.
            steps.push(bound.wrapping_sub(before));
            before = *bound;
        }
        Self { steps, counts: histogram.buckets.iter().map(|(_, count)| *count).collect() }
    }

    fn histogram(self, unit: String) -> Result<Histogram> {
        let (bounds, counts) = (self.steps.len(), self.counts.len());
        ensure!(bounds == counts, "{bounds} buckets have a bound, and {counts} a count");
        let mut bound = 0_u64;
        let bounds = self.steps.into_iter().map(|step| {
            bound = bound.wrapping_add(step);
            bound
        });
        Ok(Histogram { unit, buckets: bounds.zip(self.counts).collect() })
    }
}

impl Runs {
    pub(super) fn of(record: &Record) -> Result<Self> {
        let runs = &record.runs;
        let mut cells: Vec<Vec<&Seen>> = vec![Vec::new(); record.header.cells.len()];
        for run in runs {
            let own = cells.get_mut(run.cell).context("a run of a cell that the header lacks")?;
            own.extend(&run.observation);
        }
        let at = |run: &Run| (run.resumed.clone(), run.failure.clone());
        let (resumed, failures): (Vec<_>, Vec<_>) = runs.iter().map(at).unzip();
        Ok(Self {
            round: runs.iter().map(|run| run.round).collect(),
            cell: runs.iter().map(|run| run.cell).collect(),
            environment_bytes: Column::of(runs.iter().map(|run| run.environment_bytes)),
            link_order: Column::of(runs.iter().map(|run| run.link_order)),
            took_ms: Column::of(runs.iter().map(|run| run.took_ms)),
            core_to_core_ns: Column::of(runs.iter().map(|run| run.core_to_core_ns)),
            resumed: places(resumed),
            failures: places(failures),
            seen: cells.iter().map(|seen| Many::of(seen)).collect(),
        })
    }

    /// The processes again, of a record that has so many cells. What is said once for all processes of a cell takes room for each, so that these must
    /// not be too many for a text of so many bytes.
    pub(super) fn runs(self, cells: usize, bytes: usize) -> Result<Vec<Run>> {
        let Self { round, cell, environment_bytes, link_order, took_ms, core_to_core_ns, .. } = self;
        let Self { mut resumed, mut failures, seen, .. } = self;
        let processes = round.len();
        ensure!(cell.len() == processes, "{processes} processes have a round, and {} a cell", cell.len());
        ensure!(seen.len() == cells, "{cells} cells, and what {} of them saw", seen.len());
        let environment_bytes = environment_bytes.values(processes, "environment_bytes")?;
        let link_order = link_order.values(processes, "link_order")?;
        let took_ms = took_ms.values(processes, "took_ms")?;
        let core_to_core_ns = core_to_core_ns.values(processes, "core_to_core_ns")?;
        let mut well = vec![0; cells];
        for (place, cell) in cell.iter().enumerate() {
            let own = well.get_mut(*cell).context("a process of a cell that the header lacks")?;
            *own += usize::from(!failures.contains_key(&place));
        }
        let most = well.iter().max().copied().unwrap_or_default().saturating_mul(bytes);
        ensure!(most <= MOST_BYTES, "what its processes saw takes more than {} MiB", MOST_BYTES >> 20);
        let seen = seen.into_iter().zip(well).map(|(many, well)| Ok(many.each(well)?.into_iter()));
        let mut seen = seen.collect::<Result<Vec<_>>>()?;
        let mut runs = Vec::new();
        for (place, (round, cell)) in round.into_iter().zip(cell).enumerate() {
            let failure = failures.remove(&place);
            let observation = if failure.is_none() { seen[cell].next() } else { None };
            runs.push(Run {
                round,
                cell,
                environment_bytes: environment_bytes[place],
                link_order: link_order[place],
                took_ms: took_ms[place],
                core_to_core_ns: core_to_core_ns[place],
                resumed: resumed.remove(&place),
                observation,
                failure,
            });
        }
        ensure!(resumed.is_empty() && failures.is_empty(), "something is said of a process that there is not");
        Ok(runs)
    }
}

/// Those that there are, by their places.
fn places<T>(all: Vec<Option<T>>) -> BTreeMap<usize, T> {
    all.into_iter().enumerate().filter_map(|(place, own)| Some((place, own?))).collect()
}

impl Many {
    fn of(seen: &[&Seen]) -> Self {
        let all = || seen.iter();
        Self {
            parameters: by_name(all().map(|own| &own.parameters)),
            timed: ManyTimed::of(&all().map(|own| own.timed.as_ref()).collect::<Vec<_>>()),
            measures: Units::of(seen, |own| &own.measures, |own: &Measure| (own.unit.clone(), own.values.clone())),
            histograms: Units::of(seen, |own| &own.histograms, |own: &Histogram| (own.unit.clone(), Buckets::of(own))),
            idle_window: Windows::of(&all().map(|own| own.idle_window.as_ref()).collect::<Vec<_>>()),
            whole_run: Windows::of(&all().map(|own| own.whole_run.as_ref()).collect::<Vec<_>>()),
            unavailable: by_name(all().map(|own| &own.unavailable)),
            doubts: Column::of(all().map(|own| own.doubts.clone())),
        }
    }

    fn each(self, processes: usize) -> Result<Vec<Seen>> {
        let mut timed = self.timed.each(processes)?.into_iter();
        let mut measures = self.measures.each(processes, |unit, values| Ok(Measure { unit, values }))?.into_iter();
        let mut histograms = self.histograms.each(processes, |unit, own| own.histogram(unit))?.into_iter();
        let mut idle_windows = self.idle_window.each(processes)?.into_iter();
        let mut whole_runs = self.whole_run.each(processes)?.into_iter();
        let mut unavailable = maps(self.unavailable, processes)?.into_iter();
        let mut doubts = self.doubts.values(processes, "doubts")?.into_iter();
        let seen = maps(self.parameters, processes)?.into_iter().map(|parameters| Seen {
            parameters,
            timed: timed.next().flatten(),
            measures: measures.next().unwrap_or_default(),
            histograms: histograms.next().unwrap_or_default(),
            idle_window: idle_windows.next().flatten(),
            whole_run: whole_runs.next().flatten(),
            unavailable: unavailable.next().unwrap_or_default(),
            doubts: doubts.next().unwrap_or_default(),
        });
        Ok(seen.collect())
    }
}

impl ManyTimed {
    fn of(timed: &[Option<&Timed>]) -> Self {
        let own = || timed.iter().flatten();
        Self {
            samples: Column::of(timed.iter().map(|own| own.map_or(0, |own| own.samples))),
            operations: Column::of(own().map(|own| own.operations)),
            elapsed_ns: Column::of(own().map(|own| own.elapsed_ns)),
            ns_per_operation: Column::of(own().map(|own| own.ns_per_operation)),
            cpu_ns_per_operation: Column::of(own().map(|own| own.cpu_ns_per_operation)),
            one_stands_out: Column::of(own().map(|own| own.one_stands_out)),
            counters: by_name(own().map(|own| &own.counters)),
        }
    }

    fn each(self, processes: usize) -> Result<Vec<Option<Timed>>> {
        let samples = self.samples.values(processes, "samples")?;
        let count = samples.iter().filter(|samples| **samples > 0).count();
        let operations = self.operations.values(count, "operations")?;
        let elapsed_ns = self.elapsed_ns.values(count, "elapsed_ns")?;
        let ns_per_operation = self.ns_per_operation.values(count, "ns_per_operation")?;
        let cpu_ns_per_operation = self.cpu_ns_per_operation.values(count, "cpu_ns_per_operation")?;
        let one_stands_out = self.one_stands_out.values(count, "one_stands_out")?;
        let mut counters = maps(self.counters, count)?.into_iter();
        let mut places = 0..count;
        let timed = samples.into_iter().map(|samples| {
            let place = (samples > 0).then(|| places.next()).flatten()?;
            Some(Timed {
                samples,
                operations: operations[place],
                elapsed_ns: elapsed_ns[place],
                ns_per_operation: ns_per_operation[place],
                cpu_ns_per_operation: cpu_ns_per_operation[place],
                counters: counters.next().unwrap_or_default(),
                one_stands_out: one_stands_out[place],
            })
        });
        Ok(timed.collect())
    }
}

impl Windows {
    fn of(windows: &[Option<&Window>]) -> Self {
        let own = || windows.iter().flatten();
        Self {
            has: Column::of(windows.iter().map(Option::is_some)),
            operations: Column::of(own().map(|own| own.operations)),
            elapsed_ns: Column::of(own().map(|own| own.elapsed_ns)),
            counters: by_name(own().map(|own| &own.counters)),
        }
    }

    fn each(self, processes: usize) -> Result<Vec<Option<Window>>> {
        let has = self.has.values(processes, "whether there is a window")?;
        let count = has.iter().filter(|has| **has).count();
        let operations = self.operations.values(count, "a window's operations")?;
        let elapsed_ns = self.elapsed_ns.values(count, "a window's elapsed_ns")?;
        let counters = maps(self.counters, count)?;
        let windows = operations.into_iter().zip(elapsed_ns).zip(counters);
        let mut windows =
            windows.map(|((operations, elapsed_ns), counters)| Window { operations, elapsed_ns, counters });
        Ok(has.into_iter().map(|has| if has { windows.next() } else { None }).collect())
    }
}

impl<T: Clone + PartialEq> Units<T> {
    fn of<M>(seen: &[&Seen], maps: impl Fn(&Seen) -> &BTreeMap<String, M>, parts: impl Fn(&M) -> (String, T)) -> Self {
        let parts = |own: &&Seen| -> (BTreeMap<String, String>, BTreeMap<String, T>) {
            let each = maps(own).iter().map(|(name, own)| (name.clone(), parts(own)));
            each.map(|(name, (unit, values))| ((name.clone(), unit), (name, values))).unzip()
        };
        let (units, values): (Vec<_>, Vec<_>) = seen.iter().map(parts).unzip();
        Self { values: by_name(values.iter()), units: by_name(units.iter()) }
    }

    fn each<M>(self, processes: usize, whole: impl Fn(String, T) -> Result<M>) -> Result<Vec<BTreeMap<String, M>>> {
        let values = maps(self.values, processes)?.into_iter();
        let each = values.zip(maps(self.units, processes)?).map(|(values, mut units)| {
            let whole = |(name, values): (String, T)| {
                let unit = units.remove(&name).with_context(|| format!("{name} has no unit"))?;
                Ok((name, whole(unit, values)?))
            };
            let all = values.into_iter().map(whole).collect::<Result<BTreeMap<_, _>>>()?;
            let left: BTreeSet<String> = units.into_keys().collect();
            ensure!(left.is_empty(), "{left:?} have a unit, and no values");
            Ok(all)
        });
        each.collect()
    }
}
