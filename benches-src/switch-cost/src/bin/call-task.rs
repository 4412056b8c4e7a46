//! One operation: one call of the same function in another tokio task: a request over a channel, answered over a fresh oneshot.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Clock, Laps, Nothing, Placement};
use runtime::Flavor;
use switch_cost::layout;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

type Request = (u64, oneshot::Sender<u64>);

fn call_task(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = Flavor::Current.start(placement)?;
    let (requests, received) = unbounded_channel();
    runtime.spawn(serve(received));
    let mut calls = 0;
    clock.time(1, |laps| {
        let driver = drive(requests.clone(), calls, laps);
        calls = runtime.block_on(runtime.spawn(driver))??;
        Ok(())
    })?;
    Ok(calls)
}

async fn drive(requests: UnboundedSender<Request>, mut calls: u64, laps: Laps) -> Result<u64> {
    for () in laps {
        let (reply, response) = oneshot::channel();
        requests.send((calls, reply))?;
        calls = response.await?;
    }
    Ok(calls)
}

async fn serve(mut requests: UnboundedReceiver<Request>) -> Result<()> {
    while let Some((calls, reply)) = requests.recv().await {
        reply.send(layout(calls)).ok().context("the caller left")?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), call_task)
}
