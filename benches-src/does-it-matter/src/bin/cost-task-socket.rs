//! One operation: one hop of a byte between two tokio tasks on one thread, each awaiting its end of a socket pair.

use std::process::ExitCode;

use anyhow::Result;
use does_it_matter::task::Lent;
use harness::{Clock, Nothing, Placement};
use runtime::Flavor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

fn cost_task_socket(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let runtime = Flavor::Current.start(placement)?;
    let entered = runtime.enter();
    let (stream, other) = UnixStream::pair()?;
    drop(entered);
    let other = runtime.spawn(pass_back(other));
    let (mut stream, mut passed) = (Lent::new(stream), 0);
    clock.time(2, |laps| {
        passed += stream.to_a_task(&runtime, |mut stream| async move {
            let (mut byte, mut passed) = ([0], 0);
            for () in laps {
                stream.write_all(&byte).await?;
                stream.read_exact(&mut byte).await?;
                passed += 1;
            }
            anyhow::Ok((stream, passed))
        })?;
        Ok(())
    })?;
    drop(stream);
    Ok(passed + runtime.block_on(other)??)
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
    harness::repeat(harness::name!(), cost_task_socket)
}
