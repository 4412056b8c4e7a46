//! One operation: tokio's multi-thread runtime started, one task spawned on it and awaited, and the runtime shut down.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use resources::reserve_threads;
use runtime::Flavor;
use serde::Serialize;

fn start_multi(Parameters { workers }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    reserve_threads(workers as usize)?;
    let mut answered = 0;
    clock.time(1, |laps| {
        for () in laps {
            let runtime = Flavor::Multi.builder(placement)?.worker_threads(workers as usize).enable_all().build()?;
            answered += runtime.block_on(runtime.spawn(async { 1 }))?;
            // Blocks until each worker has ended.
            drop(runtime);
        }
        Ok(())
    })?;
    Ok(answered)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Threads that run tasks
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1024))]
    workers: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), start_multi)
}
