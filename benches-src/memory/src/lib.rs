//! What the programs of this chapter share: one process holds more and more units, and after each step reads every ledger.

mod ballast;
mod cgroup;
mod gate;
mod heap;
mod ledgers;
mod parameters;
pub mod stacks;

use std::collections::BTreeMap;
use std::future::{Future, pending, poll_fn};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use harness::{Once, Placement, Unavailable};
use observation::Measure;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

pub use gate::Gate;
pub use parameters::{Brigade, Held, Tasks, Threads, fits, reserve_mappings, touch_bytes};

use ledgers::Ledgers;

/// What is held and counted: threads, tasks, futures, coroutines.
pub trait Units: Sized {
    /// What a reader can vary.
    type Parameters: Args + Serialize + Held;

    /// Everything that is there before the first unit.
    fn set_up(parameters: &Self::Parameters) -> Result<Self>;

    /// Holds so many more. Returns when each of them has started and touched what it touches.
    fn add(&mut self, count: usize) -> Result<()>;

    /// The size of one unit's future, taken outside of it.
    fn future_bytes(&self) -> Option<usize> {
        None
    }

    /// What a tool of others reads at this count.
    fn read_by_others(&self) -> Result<Vec<(&'static str, f64)>> {
        Ok(Vec::new())
    }
}

/// Counts at which the ledgers are read, evenly spaced.
const COUNTS: usize = 8;

/// One process that holds more and more units.
pub struct Climb<U> {
    most: usize,
    touch_bytes: usize,
    units: U,
    // Dropped after the units: what they gave back was charged here.
    ledgers: Ledgers,
    read_by_others: BTreeMap<&'static str, Vec<f64>>,
    doubts: Vec<String>,
}

impl<U: Units> Once for Climb<U> {
    type Parameters = U::Parameters;

    fn set_up(parameters: &U::Parameters, _: Placement) -> Result<Self> {
        let ledgers = Ledgers::open(COUNTS)?;
        let units = U::set_up(parameters)?;
        let doubts = ledgers.doubts();
        let (most, touch_bytes) = (parameters.most(), parameters.touch_bytes());
        Ok(Self { most, touch_bytes, units, ledgers, read_by_others: BTreeMap::new(), doubts })
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        // What a unit takes is known after the first step; before, it is at least what it touches.
        let (mut held, mut bytes_per_unit) = (0, self.touch_bytes as u64);
        for step in 1..=COUNTS {
            let next = self.most * step / COUNTS;
            let before = self.ledgers.room_bytes()?;
            let added = if before > bytes_per_unit * (next - held) as u64 {
                self.units.add(next - held)
            } else {
                Err(Unavailable::because("a quarter of the memory is to stay free"))
            };
            if let Err(error) = added {
                self.stopped(held, error)?;
                break;
            }
            self.doubts.extend(settle());
            self.ledgers.note(next)?;
            for (name, bytes) in self.units.read_by_others()? {
                self.read_by_others.entry(name).or_default().push(bytes);
            }
            bytes_per_unit = before.saturating_sub(self.ledgers.room_bytes()?) / (next - held) as u64;
            held = next;
        }
        let mut measures = self.ledgers.measures();
        let bytes = |name: &str, values| (name.to_owned(), Measure { unit: "B".to_owned(), values });
        measures.extend(self.units.future_bytes().map(|size| bytes("future_bytes", vec![size as f64])));
        measures.extend(self.read_by_others.iter().map(|(name, values)| bytes(name, values.clone())));
        Ok(measures)
    }

    fn doubts(&self) -> Vec<String> {
        self.doubts.clone()
    }

    fn unavailable(&self) -> BTreeMap<String, String> {
        let mut missing = self.ledgers.unavailable();
        if self.units.future_bytes().is_none() {
            missing.insert("future_bytes".to_owned(), "such a unit has no future".to_owned());
        }
        missing
    }
}

impl<U: Units> Climb<U> {
    /// What was counted so far stands, with a doubt; without anything to show for it the error stands.
    fn stopped(&mut self, held: usize, error: anyhow::Error) -> Result<()> {
        if held == 0 {
            return Err(error);
        }
        self.doubts.push(format!("fewer units: {held} were held instead of {}; then: {error:#}", self.most));
        Ok(())
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

/// The same function for the size that was asked for: `by_touch!(touch_bytes, hold)` is one of `hold::<0>`, `hold::<4096>` …
#[macro_export]
macro_rules! by_touch {
    ($bytes:expr, $($function:tt)+) => {
        match $bytes {
            0 => $($function)+::<0>,
            1024 => $($function)+::<1024>,
            4096 => $($function)+::<4096>,
            16_384 => $($function)+::<16_384>,
            _ => $($function)+::<65_536>,
        }
    };
}

/// Writes a byte in each page.
#[inline]
pub fn touch(own: &mut [u8]) {
    const PAGE_BYTES: usize = 4096;
    black_box(&mut *own).iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = byte.wrapping_add(1));
}

/// How long to wait for one more unit to start. A thread for which some memory was refused may never do so.
const PATIENCE: Duration = Duration::from_secs(10);

static STARTED: AtomicUsize = AtomicUsize::new(0);

/// The unit of every program whose unit is a future: it touches what it is to touch, and waits for something that never comes.
pub async fn hold<const TOUCH_BYTES: usize>() {
    let mut own = [0; TOUCH_BYTES];
    touch(&mut own);
    started();
    pending::<()>().await;
    // It is here afterwards too, so that the future must keep it.
    touch(&mut own);
}

/// Says that one more unit has come to where it waits.
pub fn started() {
    STARTED.fetch_add(1, Relaxed);
}

/// Waits, on a thread that has nothing to do with them, until so many have started.
pub fn wait_until_started(count: usize) -> Result<()> {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let now = STARTED.load(Relaxed);
        if now >= count {
            return Ok(());
        }
        if now > last {
            (last, since) = (now, Instant::now());
        }
        ensure!(since.elapsed() < PATIENCE, "only {now} of {count} came to where they wait");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Lets others go first until so many have started.
pub fn all_started(count: usize) -> impl Future<Output = ()> {
    poll_fn(move |context| {
        if STARTED.load(Relaxed) >= count {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}
