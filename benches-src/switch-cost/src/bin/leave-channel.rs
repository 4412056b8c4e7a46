//! One operation: one call of a function in a thread of one's own: a tokio task sends it a request over a channel, and awaits the answer over a fresh oneshot.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Clock, Laps, Placement};
use runtime::Flavor;
use serde::Serialize;
use switch_cost::layout;
use tokio::sync::oneshot;

type Request = (u64, oneshot::Sender<u64>);

fn leave_channel(Parameters { runtime }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = runtime.start(placement)?;
    let (requests, received) = channel();
    let server = thread::spawn(move || {
        placement.pin_participant(1)?;
        serve(received)
    });
    let mut calls = 0;
    clock.time(1, |laps| {
        let driver = drive(requests.clone(), calls, laps);
        calls = runtime.block_on(runtime.spawn(driver))??;
        Ok(())
    })?;
    drop(requests);
    server.join().expect("the server panicked")?;
    // The function adds one to what it is called with.
    Ok(calls)
}

async fn drive(requests: Sender<Request>, mut calls: u64, laps: Laps) -> Result<u64> {
    for () in laps {
        let (reply, response) = oneshot::channel();
        requests.send((calls, reply))?;
        calls = response.await?;
    }
    Ok(calls)
}

fn serve(requests: Receiver<Request>) -> Result<()> {
    for (calls, reply) in requests {
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
    harness::repeat(harness::name!(), leave_channel)
}
