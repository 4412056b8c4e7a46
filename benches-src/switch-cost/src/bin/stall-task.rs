//! One operation: one sleep of a millisecond by a tokio task beside one that computes for a while before it yields.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use harness::{Laps, Placement, Repeat};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::SLEEP;
use tokio::runtime::Runtime;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::sleep;

#[derive(Args, Serialize)]
struct Parameters {
    /// How long the neighbour computes before it yields
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    busy_ms: u64,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

struct StallTask {
    runtime: Runtime,
    neighbour: JoinHandle<()>,
    ended: Arc<AtomicBool>,
    slept: u64,
}

impl Repeat for StallTask {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, placement: Placement) -> Result<Self> {
        let runtime = parameters.runtime.builder(placement)?.enable_time().build()?;
        let ended = Arc::<AtomicBool>::default();
        let neighbour = runtime.spawn(compute(Duration::from_millis(parameters.busy_ms), ended.clone()));
        Ok(Self { runtime, neighbour, ended, slept: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let sleeper = async move {
            let mut slept = 0;
            for () in laps {
                sleep(SLEEP).await;
                slept += 1;
            }
            slept
        };
        self.slept += self.runtime.block_on(self.runtime.spawn(sleeper))?;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        self.ended.store(true, Ordering::Relaxed);
        self.runtime.block_on(self.neighbour)?;
        Ok(self.slept)
    }
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

fn main() -> ExitCode {
    harness::repeat::<StallTask>(harness::name!())
}
