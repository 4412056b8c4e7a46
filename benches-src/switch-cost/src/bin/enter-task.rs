//! One operation: one call of a function in a tokio task, whose answer a thread of tokio's pool for blocking calls waits for by `block_on`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::layout;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

type Request = (u64, oneshot::Sender<u64>);

fn enter_task(Parameters { runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let (requests, received) = unbounded_channel();
    runtime.spawn(serve(received));
    let mut calls = 0;
    clock.time(1, |laps| {
        let (handle, requests) = (runtime.handle().clone(), requests.clone());
        let outside = runtime.spawn_blocking(move || drive(handle, requests, calls, laps));
        calls = runtime.block_on(outside)??;
        Ok(())
    })?;
    // The function adds one to what it is called with.
    Ok(calls)
}

fn drive(handle: Handle, requests: UnboundedSender<Request>, mut calls: u64, laps: Laps) -> Result<u64> {
    for () in laps {
        let (reply, response) = oneshot::channel();
        requests.send((calls, reply))?;
        calls = handle.block_on(response)?;
    }
    Ok(calls)
}

async fn serve(mut requests: UnboundedReceiver<Request>) -> Result<()> {
    while let Some((calls, reply)) = requests.recv().await {
        reply.send(layout(calls)).ok().context("the caller left")?;
    }
    Ok(())
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    runtime: Flavor,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), enter_task)
}
