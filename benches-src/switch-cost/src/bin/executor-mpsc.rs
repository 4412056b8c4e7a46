//! One operation: one hop of a number round a ring of tasks on our executor, each awaiting tokio's bounded channel.

use std::process::ExitCode;

use anyhow::{Context, Result};
use executor::Executor;
use harness::{Clock, Placement};
use switch_cost::{Channels, Link};
use tokio::sync::mpsc::{Receiver, Sender, channel};

fn executor_mpsc(Channels { ring, capacity }: Channels, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let executor = Executor::new();
    let (mut driver, others) = ring.links(ring.each(|| channel(capacity as usize)));
    others.into_iter().for_each(|link| executor.spawn(pass_on(link)));
    let mut token = 0;
    clock.time(ring.hops, |laps| {
        executor.block_on(async {
            for () in laps {
                driver.to.send(token + 1).await?;
                token = driver.from.recv().await.context("a participant left")?;
            }
            Ok(())
        })
    })?;
    // Everybody who passed the token on added one to it.
    Ok(token)
}

async fn pass_on(mut link: Link<Receiver<u64>, Sender<u64>>) {
    while let Some(token) = link.from.recv().await {
        if link.to.send(token + 1).await.is_err() {
            break;
        }
    }
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), executor_mpsc)
}
