//! The climb: one process holds more and more units, and after each step reads every ledger.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use harness::{Described, Findings, Report, Unavailable};
use observation::Measure;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::ledgers::{Ledgers, MEASURES};
use crate::parameters::Held;

/// Counts at which the ledgers are read, evenly spaced.
const COUNTS: usize = 8;

/// The whole of a program's `main`. The function sets up what is there before the first unit, hands the climb what adds units, and takes
/// down.
pub fn climb<P: Args + Serialize + Held>(name: &str, program: impl FnOnce(P, Climb) -> Result<()>) -> ExitCode {
    main(name, &MEASURES, || Ok(Vec::new()), program)
}

/// The same with what a tool of others reads at each count, which is described here.
pub fn climb_beside<P: Args + Serialize + Held>(
    name: &str,
    described: &[Described],
    read: fn() -> Result<Readings>,
    program: impl FnOnce(P, Climb) -> Result<()>,
) -> ExitCode {
    main(name, &[&MEASURES, described].concat(), read, program)
}

fn main<P: Args + Serialize + Held>(
    name: &str,
    described: &[Described],
    read_beside: fn() -> Result<Readings>,
    program: impl FnOnce(P, Climb) -> Result<()>,
) -> ExitCode {
    harness::once(name, described, |parameters: P, _, report| {
        // Dropped after everything of the program's: what it gives back was charged here.
        let mut ledgers = Ledgers::open(COUNTS)?;
        let (most, touch_bytes) = (parameters.most(), parameters.touch_bytes());
        program(parameters, Climb { most, touch_bytes, ledgers: &mut ledgers, read_beside, report })
    })
}

/// Bytes by the name of their measure.
pub type Readings = Vec<(&'static str, f64)>;

/// Holds more and more units. It is used up by that, and everything is taken down only afterwards.
pub struct Climb<'a> {
    most: usize,
    touch_bytes: usize,
    ledgers: &'a mut Ledgers,
    read_beside: fn() -> Result<Readings>,
    report: Report<'a>,
}

/// What there is to tell beside the ledgers.
#[derive(Default)]
struct Told {
    future_bytes: Option<usize>,
    beside: BTreeMap<&'static str, Vec<f64>>,
    doubts: Vec<String>,
}

impl Climb<'_> {
    /// Holds units that have no future. `add` is told how many there are and how many there are to be, and returns when each of them has
    /// started and touched what it touches.
    pub fn add_units(self, mut add: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        self.up(|held, next| add(held, next).map(|()| None))
    }

    /// Holds units that each have a future, of whose size `add` tells.
    pub fn add_futures(self, mut add: impl FnMut(usize, usize) -> Result<usize>) -> Result<()> {
        self.up(|held, next| add(held, next).map(Some))
    }

    fn up(mut self, add: impl FnMut(usize, usize) -> Result<Option<usize>>) -> Result<()> {
        let told = self.climb(add)?;
        let mut measures = self.ledgers.measures();
        let bytes = |name: &str, values| (name.to_owned(), Measure { unit: "B".to_owned(), values });
        measures.extend(told.future_bytes.map(|size| bytes("future_bytes", vec![size as f64])));
        measures.extend(told.beside.into_iter().map(|(name, values)| bytes(name, values)));
        let mut unavailable = self.ledgers.unavailable();
        if told.future_bytes.is_none() {
            unavailable.insert("future_bytes".to_owned(), "such a unit has no future".to_owned());
        }
        self.report.give(Findings { measures, doubts: told.doubts, unavailable })
    }

    fn climb(&mut self, mut add: impl FnMut(usize, usize) -> Result<Option<usize>>) -> Result<Told> {
        let mut told = Told { doubts: self.ledgers.doubts(), ..Told::default() };
        // What a unit takes is known after the first step; before, it is at least what it touches.
        let (mut held, mut bytes_per_unit) = (0, self.touch_bytes as u64);
        for step in 1..=COUNTS {
            let next = self.most * step / COUNTS;
            let before = self.ledgers.room_bytes()?;
            let added = if before > bytes_per_unit * (next - held) as u64 {
                add(held, next)
            } else {
                Err(Unavailable::because("a quarter of the memory is to stay free"))
            };
            match added {
                Ok(future_bytes) => told.future_bytes = future_bytes,
                // What was counted so far stands, with a doubt; without anything to show for it the error stands.
                Err(error) if held == 0 => return Err(error),
                Err(error) => {
                    let most = self.most;
                    told.doubts.push(format!("fewer units: {held} were held instead of {most}; then: {error:#}"));
                    break;
                }
            }
            told.doubts.extend(settle());
            self.ledgers.note(next)?;
            for (name, bytes) in (self.read_beside)()? {
                told.beside.entry(name).or_default().push(bytes);
            }
            bytes_per_unit = before.saturating_sub(self.ledgers.room_bytes()?) / (next - held) as u64;
            held = next;
        }
        Ok(told)
    }
}

/// Waits until no other thread of this process runs: all units are blocked or pending.
fn settle() -> Option<String> {
    const WINDOW: Duration = Duration::from_millis(2);
    const QUIET_NS: i64 = 100_000;
    const WINDOWS_AT_MOST: usize = 1000;
    let mut before = cpu_ns_of_others();
    let quiet = |_: &usize| {
        thread::sleep(WINDOW);
        let now = cpu_ns_of_others();
        now - std::mem::replace(&mut before, now) < QUIET_NS
    };
    let found = (0..WINDOWS_AT_MOST).find(quiet);
    found.is_none().then(|| "not idle: units were still running when the ledgers were read".to_owned())
}

fn cpu_ns_of_others() -> i64 {
    let ns = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    ns(ClockId::ProcessCPUTime) - ns(ClockId::ThreadCPUTime)
}
