//! The clock around the laps, and nothing else between its two readings.

use std::collections::BTreeMap;
use std::sync::{LazyLock, mpsc};
use std::time::Instant;

use observation::Window;
use rustix::time::{ClockId, clock_getres};

use crate::counters::{self, Counters, Edge};

/// Where time and counters come from. Tests put a virtual clock here, so that known answers are exact.
#[derive(Clone, Copy)]
pub struct Instruments {
    /// Monotonic nanoseconds.
    pub now: fn() -> u64,
    /// Everything that is counted per sample.
    pub counters: fn(Edge) -> Counters,
}

/// The machine's own clock and counters.
pub const REAL: Instruments = Instruments { now: monotonic_ns, counters: counters::read };

/// How many laps to do, and the clock around them. Turning it into an iterator starts the clock, the iterator's end
/// stops it, so that the same `for _ in laps` measures a thread's loop and a task's, wherever that task runs.
pub struct Laps {
    count: u64,
    operations_per_lap: u64,
    instruments: Instruments,
    singly: bool,
    result: mpsc::SyncSender<Timed>,
}

/// What the laps took: together, and each where that was asked for.
pub(crate) struct Timed {
    pub window: Window,
    /// Nanoseconds of single laps; empty unless they were timed singly.
    pub laps_ns: Vec<u64>,
}

impl Laps {
    /// So many laps of so many operations each; the receiver gets the times when the last one is done.
    pub(crate) fn new(count: u64, operations_per_lap: u64, instruments: Instruments) -> (Self, mpsc::Receiver<Timed>) {
        let (result, timed) = mpsc::sync_channel(1);
        let laps = Self { count, operations_per_lap, instruments, singly: false, result };
        (laps, timed)
    }

    /// The same with the clock read between any two laps.
    pub(crate) fn singly(self) -> Self {
        Self { singly: true, ..self }
    }
}

impl IntoIterator for Laps {
    type Item = ();
    type IntoIter = Running;

    fn into_iter(self) -> Running {
        let laps_ns = Vec::with_capacity(if self.singly { self.count as usize } else { 0 });
        // A lap that is timed singly is a stretch of its own.
        let left = if self.singly { self.count.min(1) } else { self.count };
        let counters = (self.instruments.counters)(Edge::Start);
        let start_ns = (self.instruments.now)();
        let apart = Apart::default();
        Running { left, ended: 0, counters, start_ns, lap_start_ns: start_ns, laps_ns, apart, laps: self }
    }
}

/// Laps under way: the clock is running.
pub struct Running {
    left: u64,
    /// Laps that were timed singly and have ended.
    ended: u64,
    start_ns: u64,
    lap_start_ns: u64,
    laps_ns: Vec<u64>,
    counters: Counters,
    apart: Apart,
    laps: Laps,
}

/// What of a sample is not the laps' own.
#[derive(Default)]
struct Apart {
    /// Since when the clock stands still, and what the counters were then.
    paused: Option<(u64, Counters)>,
    /// How long it stood still: since the first lap, and since the present one began.
    ns: u64,
    of_lap_ns: u64,
    /// How far each counter moved meanwhile.
    counters: BTreeMap<String, u64>,
    /// Times that stand for those of the laps.
    instead_ns: Option<u64>,
}

impl Iterator for Running {
    type Item = ();

    #[inline]
    fn next(&mut self) -> Option<()> {
        if self.left == 0 {
            return self.end_of_stretch();
        }
        self.left -= 1;
        Some(())
    }
}

impl Running {
    #[cold]
    fn end_of_stretch(&mut self) -> Option<()> {
        let now_ns = (self.laps.instruments.now)();
        if self.laps.singly && self.ended < self.laps.count {
            self.ended += 1;
            let lap_ns = now_ns - self.lap_start_ns - std::mem::take(&mut self.apart.of_lap_ns);
            if self.apart.instead_ns.is_none() {
                self.laps_ns.push(lap_ns);
            }
            if self.ended < self.laps.count {
                self.lap_start_ns = (self.laps.instruments.now)();
                return Some(());
            }
        }
        self.stop(self.apart.instead_ns.unwrap_or(now_ns - self.start_ns - self.apart.ns));
        None
    }

    /// Stops the clock and the counters within a lap, for what is not to be in the sample. Reading both takes about a
    /// microsecond that nobody's time contains, so this is for laps that are much longer.
    pub fn pause(&mut self) {
        let now_ns = (self.laps.instruments.now)();
        self.apart.paused = Some((now_ns, (self.laps.instruments.counters)(Edge::End)));
    }

    /// Starts them again.
    pub fn resume(&mut self) {
        let (since_ns, before) = self.apart.paused.take().expect("the clock was paused");
        for (name, moved) in (self.laps.instruments.counters)(Edge::Start).since(&before) {
            *self.apart.counters.entry(name).or_default() += moved;
        }
        let ns = (self.laps.instruments.now)() - since_ns;
        self.apart.ns += ns;
        self.apart.of_lap_ns += ns;
    }

    /// A time, in nanoseconds, that one operation took by its own account. From the first on, the sample's time is the sum of
    /// such times and not the laps'; where laps are timed singly, each is one entry of the distribution.
    pub fn took(&mut self, ns: u64) {
        *self.apart.instead_ns.get_or_insert(0) += ns;
        if self.laps.singly {
            self.laps_ns.push(ns);
        }
    }

    fn stop(&mut self, elapsed_ns: u64) {
        let mut counters = (self.laps.instruments.counters)(Edge::End).since(&self.counters);
        for (name, apart) in std::mem::take(&mut self.apart.counters) {
            counters.entry(name).and_modify(|moved| *moved = moved.saturating_sub(apart));
        }
        let operations = self.laps.count * self.laps.operations_per_lap;
        let window = Window { operations, elapsed_ns, counters };
        // A second call after the end finds the channel full or closed; the first times stand.
        let _ = self.laps.result.try_send(Timed { window, laps_ns: std::mem::take(&mut self.laps_ns) });
    }
}

/// The monotonic clock in nanoseconds since this was first called.
pub fn monotonic_ns() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// The clock's stated resolution and the measured cost of reading it, both in nanoseconds.
pub fn resolution_and_cost_ns() -> (f64, f64) {
    const READINGS: u32 = 1000;
    let resolution = clock_getres(ClockId::Monotonic);
    let start = monotonic_ns();
    for _ in 0..READINGS {
        std::hint::black_box(monotonic_ns());
    }
    let cost = (monotonic_ns() - start) as f64 / f64::from(READINGS);
    (resolution.tv_sec as f64 * 1e9 + resolution.tv_nsec as f64, cost)
}
