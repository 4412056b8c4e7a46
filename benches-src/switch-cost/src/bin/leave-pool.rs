//! One operation: one call of a function by `spawn_blocking`, awaited by a tokio task.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::layout;
use tokio::task::spawn_blocking;

fn leave_pool(Parameters { runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let mut calls = 0;
    clock.time(1, |laps| {
        calls = runtime.block_on(runtime.spawn(drive(calls, laps)))??;
        Ok(())
    })?;
    // The function adds one to what it is called with.
    Ok(calls)
}

async fn drive(mut calls: u64, laps: Laps) -> Result<u64> {
    for () in laps {
        calls = spawn_blocking(move || layout(calls)).await?;
    }
    Ok(calls)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), leave_pool)
}
