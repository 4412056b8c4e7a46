//! One operation: one wait of a tokio task for a message that does not come, until its timeout fires. Its time is how late that is.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use fastrand::Rng;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;

fn expire_task(Parameters { runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    // With sockets beside the timers, as services have it: then it is epoll that waits.
    let runtime = runtime.builder(placement)?.enable_all().build()?;
    let mut rng = Rng::with_seed(1);
    let mut fired = 0;
    clock.time(1, |laps| {
        fired += runtime.block_on(runtime.spawn(wait_in_vain(laps, rng.fork())))??;
        Ok(())
    })?;
    Ok(fired)
}

async fn wait_in_vain(laps: Laps, mut rng: Rng) -> Result<u64> {
    let (_silent, mut messages) = unbounded_channel::<u64>();
    let mut fired = 0;
    let mut laps = laps.into_iter();
    while laps.next().is_some() {
        // Between one millisecond and two, so that timeouts end anywhere between two ticks of a clock that counts whole ones.
        let patience = Duration::from_nanos(rng.u64(1_000_000..2_000_000));
        let start = Instant::now();
        let silence = timeout(patience, messages.recv()).await;
        let late = start.elapsed().checked_sub(patience).context("a timeout fired early")?;
        laps.took(late.as_nanos() as u64);
        fired += u64::from(silence.is_err());
    }
    Ok(fired)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), expire_task)
}
