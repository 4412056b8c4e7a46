//! One operation: one tokio task that waits for ever, alive at once with all before it.

use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use limits::{Climb, Needs, Nothing};
use tokio::runtime::Builder;
use tokio::task::yield_now;

fn reach_tokio(_: Nothing, climb: Climb) -> Result<()> {
    let runtime = Builder::new_current_thread().build()?;
    let alive = Arc::<AtomicU64>::default();
    let top = climb.in_strides_of(1 << 16).add_units(|| {
        let alive = alive.clone();
        runtime.spawn(async move {
            alive.fetch_add(1, Ordering::Relaxed);
            pending::<()>().await;
        });
        Ok(())
    })?;
    runtime.block_on(async {
        while alive.load(Ordering::Relaxed) < top.added {
            yield_now().await;
        }
    });
    top.report(alive.load(Ordering::Relaxed))
}

fn main() -> ExitCode {
    limits::reach(harness::name!(), |_| Needs::TASK, reach_tokio)
}
