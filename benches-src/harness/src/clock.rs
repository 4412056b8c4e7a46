//! The clock around the laps, and nothing else between its two readings.

use std::sync::{LazyLock, mpsc};
use std::time::Instant;

use observation::Window;
use rustix::time::{ClockId, clock_getres};

use crate::counters::{self, Counters};

/// Where time and counters come from. Tests put a virtual clock here, so that known answers are exact.
#[derive(Clone, Copy)]
pub struct Instruments {
    /// Monotonic nanoseconds.
    pub now: fn() -> u64,
    /// Everything that is counted per sample.
    pub counters: fn() -> Counters,
}

/// The machine's own clock and counters.
pub const REAL: Instruments = Instruments { now: monotonic_ns, counters: counters::read };

/// How many laps to do, and the clock around them. Turning it into an iterator starts the clock, the iterator's end
/// stops it, so that the same `for _ in laps` measures a thread's loop and a task's, wherever that task runs.
pub struct Laps {
    count: u64,
    operations_per_lap: u64,
    instruments: Instruments,
    result: mpsc::SyncSender<Window>,
}

impl Laps {
    /// So many laps of so many operations each; the receiver gets the window when the last one is done.
    pub(crate) fn new(count: u64, operations_per_lap: u64, instruments: Instruments) -> (Self, mpsc::Receiver<Window>) {
        let (result, window) = mpsc::sync_channel(1);
        let laps = Self { count, operations_per_lap, instruments, result };
        (laps, window)
    }
}

impl IntoIterator for Laps {
    type Item = ();
    type IntoIter = Running;

    fn into_iter(self) -> Running {
        let counters = (self.instruments.counters)();
        Running { left: self.count, counters, start_ns: (self.instruments.now)(), laps: self }
    }
}

/// Laps under way: the clock is running.
pub struct Running {
    left: u64,
    start_ns: u64,
    counters: Counters,
    laps: Laps,
}

impl Iterator for Running {
    type Item = ();

    #[inline]
    fn next(&mut self) -> Option<()> {
        if self.left == 0 {
            self.stop();
            return None;
        }
        self.left -= 1;
        Some(())
    }
}

impl Running {
    #[cold]
    fn stop(&mut self) {
        let elapsed_ns = (self.laps.instruments.now)() - self.start_ns;
        let counters = (self.laps.instruments.counters)().since(&self.counters);
        // A second call after the end finds the channel full or closed; the first window stands.
        let _ = self.laps.result.try_send(Window {
            operations: self.laps.count * self.laps.operations_per_lap,
            elapsed_ns,
            counters,
        });
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
