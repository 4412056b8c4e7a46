//! One operation: one call of the same function in another tokio task: a request over a channel, answered over a fresh oneshot.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Laps, Nothing, Placement, Repeat};
use runtime::Flavor;
use switch_cost::layout;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

type Request = (u64, oneshot::Sender<u64>);

struct CallTask {
    runtime: Runtime,
    requests: UnboundedSender<Request>,
    calls: u64,
}

impl Repeat for CallTask {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        let runtime = Flavor::Current.start(placement)?;
        let (requests, received) = unbounded_channel();
        runtime.spawn(serve(received));
        Ok(Self { runtime, requests, calls: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let driver = drive(self.requests.clone(), self.calls, laps);
        self.calls = self.runtime.block_on(self.runtime.spawn(driver))??;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The function adds one to what it is called with.
        Ok(self.calls)
    }
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
    harness::repeat::<CallTask>(harness::name!())
}
