//! One operation: one sleep of a millisecond by a tokio task beside one that computes for a while before it yields.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::SLEEP;
use tokio::task::yield_now;
use tokio::time::sleep;

fn stall_task(Parameters { busy_ms, runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.builder(placement)?.enable_time().build()?;
    let ended = Arc::<AtomicBool>::default();
    let neighbour = runtime.spawn(compute(Duration::from_millis(busy_ms), ended.clone()));
    let mut slept = 0;
    clock.time(1, |laps| {
        let sleeper = async move {
            let mut slept = 0;
            for () in laps {
                sleep(SLEEP).await;
                slept += 1;
            }
            slept
        };
        slept += runtime.block_on(runtime.spawn(sleeper))?;
        Ok(())
    })?;
    ended.store(true, Ordering::Relaxed);
    runtime.block_on(neighbour)?;
    Ok(slept)
}

async fn compute(busy: Duration, ended: Arc<AtomicBool>) {
    while !ended.load(Ordering::Relaxed) {
        let start = Instant::now();
        while start.elapsed() < busy {
            std::hint::spin_loop();
        }
        yield_now().await;
    }
}

#[derive(Args, Serialize)]
struct Parameters {
    /// How long the neighbour computes before it yields
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    busy_ms: u64,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), stall_task)
}
