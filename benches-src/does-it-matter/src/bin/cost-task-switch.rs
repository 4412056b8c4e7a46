//! One operation: one hop of a number between two tokio tasks on one thread, each awaiting tokio's bounded channel.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use does_it_matter::task::Lent;
use harness::{Clock, Nothing, Placement};
use runtime::Flavor;
use tokio::sync::mpsc::{Receiver, Sender, channel};

fn cost_task_switch(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let (there, from) = channel(1);
    let (to, back) = channel(1);
    let runtime = Flavor::Current.start(placement)?;
    let other = runtime.spawn(pass_back(from, to));
    let (mut ends, mut passed) = (Lent::new((there, back)), 0);
    clock.time(2, |laps| {
        let mut number = passed;
        passed = ends.to_a_task(&runtime, |(there, mut back)| async move {
            for () in laps {
                there.send(number).await?;
                ensure!(back.recv().await == Some(number), "another number came back");
                number += 1;
            }
            Ok(((there, back), number))
        })?;
        Ok(())
    })?;
    drop(ends);
    Ok(passed + runtime.block_on(other)??)
}

async fn pass_back(mut from: Receiver<u64>, to: Sender<u64>) -> Result<u64> {
    let mut passed = 0;
    while let Some(number) = from.recv().await {
        to.send(number).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_task_switch)
}
