//! One operation: tokio's current-thread runtime started, one task spawned on it and awaited, and the runtime shut down.

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgAction, Args};
use harness::{Clock, Placement};
use runtime::Flavor;
use serde::Serialize;

fn start_current(Parameters { drivers }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let mut answered = 0;
    clock.time(1, |laps| {
        for () in laps {
            let mut builder = Flavor::Current.builder(placement)?;
            if drivers {
                builder.enable_all();
            }
            let runtime = builder.build()?;
            answered += runtime.block_on(runtime.spawn(async { 1 }))?;
            drop(runtime);
        }
        Ok(())
    })?;
    Ok(answered)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Whether it can wait for sockets and for time, as tokio's macros have it
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    drivers: bool,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), start_current)
}
