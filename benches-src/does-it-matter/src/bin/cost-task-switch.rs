//! One operation: one hop of a number between two tokio tasks on one thread, each awaiting tokio's bounded channel.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use harness::{Laps, Nothing, Placement, Repeat};
use runtime::Flavor;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

struct CostTaskSwitch {
    runtime: Runtime,
    /// The ends of the task that counts the laps, while it does not run.
    ends: Option<(Sender<u64>, Receiver<u64>)>,
    other: JoinHandle<Result<u64>>,
    passed: u64,
}

impl Repeat for CostTaskSwitch {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        let (there, from) = channel(1);
        let (to, back) = channel(1);
        let runtime = Flavor::Current.start(placement)?;
        let other = runtime.spawn(pass_back(from, to));
        Ok(Self { runtime, ends: Some((there, back)), other, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        2
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let (there, mut back) = self.ends.take().context("a run before this one failed")?;
        let mut passed = self.passed;
        let task = self.runtime.spawn(async move {
            for () in laps {
                there.send(passed).await?;
                ensure!(back.recv().await == Some(passed), "another number came back");
                passed += 1;
            }
            anyhow::Ok((there, back, passed))
        });
        let (there, back, passed) = self.runtime.block_on(task)??;
        self.ends = Some((there, back));
        self.passed = passed;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.ends);
        Ok(self.passed + self.runtime.block_on(self.other)??)
    }
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
    harness::repeat::<CostTaskSwitch>(harness::name!())
}
