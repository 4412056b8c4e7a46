//! The clock around the laps, and nothing else between its two readings.

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
        Running { left, counters, start_ns, lap_start_ns: start_ns, laps_ns, laps: self }
    }
}

/// Laps under way: the clock is running.
pub struct Running {
    left: u64,
    start_ns: u64,
    lap_start_ns: u64,
    laps_ns: Vec<u64>,
    counters: Counters,
    laps: Laps,
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
        if self.laps.singly && (self.laps_ns.len() as u64) < self.laps.count {
            self.laps_ns.push(now_ns - self.lap_start_ns);
            if (self.laps_ns.len() as u64) < self.laps.count {
                self.lap_start_ns = (self.laps.instruments.now)();
                return Some(());
            }
        }
        self.stop(now_ns - self.start_ns);
        None
    }

    fn stop(&mut self, elapsed_ns: u64) {
        let counters = (self.laps.instruments.counters)(Edge::End).since(&self.counters);
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
