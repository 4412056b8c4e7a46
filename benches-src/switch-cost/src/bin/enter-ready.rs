//! One operation: one `block_on` of a future that is ready, by a thread of tokio's pool for blocking calls.

use std::future::ready;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::layout;

fn enter_ready(Parameters { runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let mut calls = 0;
    clock.time(1, |laps| {
        let handle = runtime.handle().clone();
        let outside = runtime.spawn_blocking(move || {
            for () in laps {
                calls = handle.block_on(ready(layout(calls)));
            }
            calls
        });
        calls = runtime.block_on(outside)?;
        Ok(())
    })?;
    // The function adds one to what it is called with.
    Ok(calls)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), enter_ready)
}
