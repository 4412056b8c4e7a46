//! One operation: one hop of a byte between two tokio tasks on one thread, each awaiting its end of a socket pair.

use std::process::ExitCode;

use anyhow::{Context, Result};
use harness::{Laps, Nothing, Placement, Repeat};
use runtime::Flavor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

struct CostTaskSocket {
    runtime: Runtime,
    /// The end of the task that counts the laps, while it does not run.
    stream: Option<UnixStream>,
    other: JoinHandle<Result<u64>>,
    passed: u64,
}

impl Repeat for CostTaskSocket {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        let runtime = Flavor::Current.start(placement)?;
        let entered = runtime.enter();
        let (stream, other) = UnixStream::pair()?;
        drop(entered);
        let other = runtime.spawn(pass_back(other));
        Ok(Self { runtime, stream: Some(stream), other, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        2
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let mut stream = self.stream.take().context("a run before this one failed")?;
        let task = self.runtime.spawn(async move {
            let (mut byte, mut passed) = ([0], 0);
            for () in laps {
                stream.write_all(&byte).await?;
                stream.read_exact(&mut byte).await?;
                passed += 1;
            }
            anyhow::Ok((stream, passed))
        });
        let (stream, passed) = self.runtime.block_on(task)??;
        self.stream = Some(stream);
        self.passed += passed;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.stream);
        Ok(self.passed + self.runtime.block_on(self.other)??)
    }
}

async fn pass_back(mut stream: UnixStream) -> Result<u64> {
    let (mut byte, mut passed) = ([0], 0);
    while stream.read(&mut byte).await? == byte.len() {
        stream.write_all(&byte).await?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<CostTaskSocket>(harness::name!())
}
