//! What the programs of this chapter share: one process holds more and more units, and after each step reads every ledger.

mod ballast;
mod cgroup;
mod climb;
pub mod foreign;
mod gate;
mod heap;
mod ledgers;
mod parameters;
pub mod rival;
mod sleepers;
pub mod stacks;

use std::future::{Future, pending, poll_fn};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

pub use climb::{Climb, Readings, climb, climb_beside};
pub use gate::Gate;
pub use heap::Counting;
pub use parameters::{Brigade, Held, Tasks, Threads, fits, reserve_mappings, touch_bytes};
pub use sleepers::{HOUR, Sleepers};

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
