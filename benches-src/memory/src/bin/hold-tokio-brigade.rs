//! One operation: one tokio task of a brigade held: it awaits a socket pair of its own, on a runtime with a worker per CPU.

use std::io;
use std::mem::replace;
use std::process::ExitCode;

use anyhow::Result;
use memory::{Brigade, Climb, Counting, Held, started, wait_until_started};
use resources::reserve_descriptors;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Builder;

fn hold_tokio_brigade(parameters: Brigade, climb: Climb) -> Result<()> {
    reserve_descriptors(2 * parameters.most() + 2)?;
    let runtime = Builder::new_multi_thread().enable_io().build()?;
    // The end that writes to whoever joined last, and so where the next to join is to pass the byte on to.
    let (mut last, _) = runtime.block_on(async { UnixStream::pair() })?;
    climb.add_futures(|held, next| {
        let _entered = runtime.enter();
        let mut future_bytes = 0;
        for _ in held..next {
            let (end, from) = UnixStream::pair()?;
            let to = replace(&mut last, end);
            let future = pass_on(from, to);
            future_bytes = size_of_val(&future);
            runtime.spawn(future);
        }
        wait_until_started(next)?;
        Ok(future_bytes)
    })
}

async fn pass_on(mut from: UnixStream, mut to: UnixStream) -> io::Result<()> {
    let mut byte = [0];
    started();
    while from.read(&mut byte).await? == 1 {
        to.write_all(&byte).await?;
    }
    Ok(())
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_tokio_brigade)
}
