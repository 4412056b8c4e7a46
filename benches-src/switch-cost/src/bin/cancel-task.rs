//! One operation: one of many waiting tokio tasks aborted while it waits for a message, and awaited.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Clock, Laps, Placement, monotonic_ns};
use runtime::Flavor;
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn, yield_now};

fn cancel_task(Parameters { members, runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let mut gave_up = 0;
    clock.time(members, |laps| {
        gave_up += runtime.block_on(runtime.spawn(cancel_all(laps, members)))??;
        Ok(())
    })?;
    Ok(gave_up)
}

async fn cancel_all(laps: Laps, members: u64) -> Result<u64> {
    let mut gave_up = 0;
    let mut laps = laps.into_iter();
    while laps.next().is_some() {
        let waiting = start_waiting(members).await?;
        let start_ns = monotonic_ns();
        for (_sender, task) in waiting {
            task.abort();
            gave_up += u64::from(task.await.is_err_and(|error| error.is_cancelled()));
        }
        laps.took(monotonic_ns() - start_ns);
    }
    Ok(gave_up)
}

type Waiting = (UnboundedSender<u64>, JoinHandle<Option<u64>>);

async fn start_waiting(members: u64) -> Result<Vec<Waiting>> {
    let (here, mut arrivals) = unbounded_channel();
    let start_member = |_| {
        let (sender, mut messages) = unbounded_channel();
        let here = here.clone();
        let task = spawn(async move {
            here.send(()).expect("the driver waits");
            messages.recv().await
        });
        (sender, task)
    };
    let waiting = (0..members).map(start_member).collect();
    for _ in 0..members {
        arrivals.recv().await.context("a member left")?;
    }
    // The last of them may still be on its way from there to its wait, if another worker runs it.
    yield_now().await;
    Ok(waiting)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// How many wait at the same time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=4096))]
    members: u64,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cancel_task)
}
