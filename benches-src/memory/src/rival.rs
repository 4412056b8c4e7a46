//! What is asked alike of units of several kinds: to be held, to be created one after the other, and to hand something over.
//! They are timed, so nobody counts their allocations.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::{Described, Findings, described};
use observation::Measure;
use resources::fields::Fields;
use serde::Serialize;

use crate::cgroup::Cgroup;

/// Units of one kind.
pub trait Rival {
    /// The process that has them.
    fn process(&self) -> u32 {
        std::process::id()
    }

    /// Starts so many more that wait for what never comes, and returns when each of them has started.
    fn hold(&mut self, more: u64) -> Result<()>;

    /// Starts so many, one after the other, and waits for each to end.
    fn create(&mut self, count: u64) -> Result<Duration>;

    /// Two units hand a token to each other, so many times in all, through two channels with room for one.
    fn hop(&mut self, count: u64) -> Result<Duration>;

    /// What there is to distrust.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What is asked of them, and how often.
#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    /// Units held at the last of eight evenly spaced counts
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(8..=10_000_000))]
    most: u64,
    /// Units created one after the other
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    creations: u64,
    /// How often two units hand over a token
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(2..=100_000_000))]
    hops: u64,
}

const MEASURES: [Described; 6] = [
    described("held", "1", "how many units were held when memory was read"),
    described(
        "total_bytes",
        "B",
        "all that is charged to a cgroup which has the units' process, the kernel's part included",
    ),
    described("kernel_bytes", "B", "the kernel's part of what is charged to that cgroup"),
    described(
        "resident_bytes",
        "B",
        "pages of the units' process that are in memory, those that are shared by their share (Pss)",
    ),
    described("created_ns", "ns", "from the start of a unit until whoever started it knows that it has ended"),
    described("hop_ns", "ns", "from a unit's handing over a token until the other hands it back or on"),
];

/// Counts at which memory is read, evenly spaced.
const COUNTS: u64 = 8;

/// The whole of a program's `main`.
pub fn main<R: Rival>(name: &str, start: fn() -> Result<R>) -> ExitCode {
    harness::once(name, &MEASURES, |asked: Parameters, _, report| {
        // Dropped after the units: what they give back was charged to it.
        let cgroup = Cgroup::enter();
        let mut rival = start()?;
        let mut found = Findings { doubts: rival.doubts(), ..Findings::default() };
        let mut put = |name: &str, unit: &str, values| {
            found.measures.insert(name.to_owned(), Measure { unit: unit.to_owned(), values });
        };
        // Before any are held: a queue of timers or a collector's heap is then as small as it can be.
        put("created_ns", "ns", vec![each_ns(asked.creations, |count| rival.create(count))?]);
        put("hop_ns", "ns", vec![each_ns(asked.hops, |count| rival.hop(count))?]);
        for (name, values) in held(&mut rival, asked.most, cgroup.as_ref().ok())? {
            put(name, if name == "held" { "1" } else { "B" }, values);
        }
        if let Err(reason) = &cgroup {
            found.unavailable = ["total_bytes", "kernel_bytes"].map(|name| (name.to_owned(), reason.clone())).into();
        }
        report.give(found)
    })
}

/// What one of many takes, once it has been done for a tenth of them: what is compiled or grown while it runs is so by then.
fn each_ns(count: u64, mut timed: impl FnMut(u64) -> Result<Duration>) -> Result<f64> {
    timed(count.div_ceil(10).next_multiple_of(2))?;
    let took = timed(count)?;
    ensure!(!took.is_zero(), "{count} took no time");
    Ok(took.as_nanos() as f64 / count as f64)
}

/// Holds more and more, and reads after each step what they take.
fn held(rival: &mut impl Rival, most: u64, cgroup: Option<&Cgroup>) -> Result<BTreeMap<&'static str, Vec<f64>>> {
    let mut read: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    let mut held = 0;
    for step in 1..=COUNTS {
        let next = most * step / COUNTS;
        rival.hold(next - held)?;
        held = next;
        let mut note = |name, value| read.entry(name).or_default().push(value);
        note("held", held as f64);
        note("resident_bytes", resident_bytes(rival.process())?);
        if let Some(cgroup) = cgroup {
            note("total_bytes", cgroup.total_bytes().context(CGROUP)? as f64);
            note("kernel_bytes", cgroup.kernel_bytes().context(CGROUP)? as f64);
        }
    }
    Ok(read)
}

const CGROUP: &str = "cannot read this process's own cgroup";

fn resident_bytes(process: u32) -> Result<f64> {
    Ok(Fields::of(format!("/proc/{process}/smaps_rollup"))?.bytes("Pss")? as f64)
}

/// How long something takes.
#[inline]
pub fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}
