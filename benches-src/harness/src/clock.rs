//! The clock that a program is handed for its laps.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use observation::{Measure, Observation, Window};

use crate::command_line::HarnessFlags;
use crate::laps::{self, Instruments, Laps};
use crate::sampling::DoLaps;
use crate::{counters, report, sampling};

/// Times the laps of one program. It is used up by that: a program has one operation.
pub struct Clock<'a> {
    flags: &'a HarnessFlags,
    instruments: Instruments,
    counts: Box<dyn Fn() -> Counts + 'a>,
    observation: &'a mut Observation,
    /// How many operations were asked for, once they were.
    asked: &'a mut Option<u64>,
}

/// What those who do the operations have counted until now, by name.
type Counts = BTreeMap<String, u64>;

impl<'a> Clock<'a> {
    pub(crate) fn new(
        flags: &'a HarnessFlags,
        instruments: Instruments,
        observation: &'a mut Observation,
        asked: &'a mut Option<u64>,
    ) -> Self {
        Self { flags, instruments, counts: Box::new(Counts::new), observation, asked }
    }

    /// The same where those who do the operations count something beside them. It is read outside the clock, before the first lap and after
    /// the last; how far each has moved in between stands in the observation's `whole_run`.
    pub fn counting<'b>(self, counts: impl Fn() -> Counts + 'b) -> Clock<'b>
    where
        'a: 'b,
    {
        Clock { counts: Box::new(counts), ..self }
    }

    /// Does laps of so many operations each: `for () in laps { … }`. The clock runs from the first lap's beginning to the last one's end,
    /// and this is called once for each sample and each step of the warm-up.
    pub fn time(self, operations_per_lap: u64, mut do_laps: impl FnMut(Laps) -> Result<()>) -> Result<()> {
        self.time_laps(operations_per_lap, &mut do_laps)
    }

    /// The same, compiled once for all programs. The call through a pointer is made once for each
    /// sample, before the clock starts.
    fn time_laps(self, operations_per_lap: u64, do_laps: DoLaps) -> Result<()> {
        let before = Moment::now(&self);
        let sampled = sampling::take(do_laps, operations_per_lap, self.flags, self.instruments)?;
        let operations = sampled.laps * operations_per_lap;
        let after = Moment::now(&self);
        let Self { observation, asked, flags, .. } = self;
        before.note_until(after, operations, observation);
        observation.doubts = report::doubts(&sampled.samples, observation.measures[COST].values[0]);
        observation.samples = sampled.samples;
        observation.histograms.extend(sampled.single_laps.map(|laps| ("lap".to_owned(), laps)));
        *asked = Some(operations);
        flags.run_command()
    }
}

/// What is known at either end of all laps.
struct Moment {
    at_ns: u64,
    migrations: Result<u64, String>,
    counts: Counts,
}

impl Moment {
    fn now(clock: &Clock) -> Self {
        let (migrations, counts) = (counters::migrations(), (clock.counts)());
        Self { at_ns: (clock.instruments.now)(), migrations, counts }
    }

    fn note_until(self, end: Self, operations: u64, observation: &mut Observation) {
        let moved = |(name, count): (String, u64)| {
            let before = self.counts.get(&name)?;
            Some((name, count.saturating_sub(*before)))
        };
        let mut counters: Counts = end.counts.into_iter().filter_map(moved).collect();
        match self.migrations.and_then(|before| Ok(end.migrations? - before)) {
            Ok(moved) => drop(counters.insert("migrations".to_owned(), moved)),
            Err(reason) => drop(observation.unavailable.insert("migrations".to_owned(), reason)),
        }
        observation.whole_run = Some(Window { operations, elapsed_ns: end.at_ns - self.at_ns, counters });
    }
}

/// The measure that says what one reading of the clock costs.
const COST: &str = "clock_cost";

/// Notes what is to be known of clock and counters before anything is timed.
pub(crate) fn note_itself(observation: &mut Observation, instruments: Instruments) {
    observation.idle_window = Some(idle_window(instruments));
    let (resolution_ns, cost_ns) = laps::resolution_and_cost_ns();
    let ns = |value| Measure { unit: "ns".to_owned(), values: vec![value] };
    observation.measures.insert("clock_resolution".to_owned(), ns(resolution_ns));
    observation.measures.insert(COST.to_owned(), ns(cost_ns));
}

/// What the counters do while the program does nothing.
fn idle_window(instruments: Instruments) -> Window {
    const LENGTH: Duration = Duration::from_millis(10);
    let (laps, timed) = Laps::new(1, 0, instruments);
    for () in laps {
        thread::sleep(LENGTH);
    }
    timed.try_recv().expect("a loop that ends sends its times").sample.window()
}
