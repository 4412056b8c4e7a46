//! The laps that a program does, with the clock around them and nothing else between its two readings.

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

/// How many laps to do, and the clock around them. The first lap that is asked for starts the clock, the end of the last one stops
/// it, so that the same `for _ in laps` measures a thread's loop and a task's, wherever that task runs. What is done between making
/// an iterator of it and the first lap is in no sample.
pub struct Laps {
    count: u64,
    operations_per_lap: u64,
    instruments: Instruments,
    singly: bool,
    result: mpsc::SyncSender<Timed>,
}

/// What the laps took: together, and each where that was asked for.
pub(crate) struct Timed {
    pub sample: Sample,
    /// Nanoseconds of single laps; empty unless they were timed singly.
    pub laps_ns: Vec<u64>,
}

/// A sample as it is kept while others are still taken: nothing on the heap, which is the program's.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub operations: u64,
    pub elapsed_ns: u64,
    pub moved: Counters,
}

impl Sample {
    /// The same as it is recorded.
    pub fn window(&self) -> Window {
        Window { operations: self.operations, elapsed_ns: self.elapsed_ns, counters: self.moved.named() }
    }
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
        Running { left: 0, ended: 0, start: None, lap_start_ns: 0, laps_ns, instead_ns: None, laps: self }
    }
}

/// Laps under way: from the first on, the clock is running.
pub struct Running {
    left: u64,
    /// Laps that were timed singly and have ended.
    ended: u64,
    /// When the first lap began, and what the counters were then.
    start: Option<(u64, Counters)>,
    lap_start_ns: u64,
    laps_ns: Vec<u64>,
    /// Times that stand for those of the laps.
    instead_ns: Option<u64>,
    laps: Laps,
}

impl Iterator for Running {
    type Item = ();

    #[inline]
    fn next(&mut self) -> Option<()> {
        if self.left == 0 {
            return self.next_stretch();
        }
        self.left -= 1;
        Some(())
    }
}

impl Running {
    /// Where the laps at hand are used up: at the beginning, at the end, and between any two laps that are timed singly.
    #[cold]
    fn next_stretch(&mut self) -> Option<()> {
        let Some((start_ns, counters)) = self.start else {
            return self.begin();
        };
        let now_ns = (self.laps.instruments.now)();
        if self.laps.singly && self.ended < self.laps.count {
            self.ended += 1;
            if self.instead_ns.is_none() {
                self.laps_ns.push(now_ns - self.lap_start_ns);
            }
            if self.ended < self.laps.count {
                self.lap_start_ns = (self.laps.instruments.now)();
                return Some(());
            }
        }
        self.stop(self.instead_ns.unwrap_or(now_ns - start_ns), counters);
        None
    }

    /// Starts the clock with the first lap. One that is timed singly is a stretch of its own.
    fn begin(&mut self) -> Option<()> {
        let at_hand = if self.laps.singly { 1 } else { self.laps.count };
        self.left = at_hand.checked_sub(1).expect("nobody asks for no laps");
        let counters = (self.laps.instruments.counters)(Edge::Start);
        self.lap_start_ns = (self.laps.instruments.now)();
        self.start = Some((self.lap_start_ns, counters));
        Some(())
    }

    /// A time, in nanoseconds, that one operation took by its own account. From the first on, the sample's time is the sum of
    /// such times and not the laps'; where laps are timed singly, each is one entry of the distribution.
    pub fn took(&mut self, ns: u64) {
        *self.instead_ns.get_or_insert(0) += ns;
        if self.laps.singly {
            self.laps_ns.push(ns);
        }
    }

    fn stop(&mut self, elapsed_ns: u64, before: Counters) {
        let moved = (self.laps.instruments.counters)(Edge::End).since(&before);
        let operations = self.laps.count * self.laps.operations_per_lap;
        let sample = Sample { operations, elapsed_ns, moved };
        // A second call after the end finds the channel full or closed; the first times stand.
        let _ = self.laps.result.try_send(Timed { sample, laps_ns: std::mem::take(&mut self.laps_ns) });
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
