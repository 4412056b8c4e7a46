//! One operation: one tokio task of a brigade held: it awaits a socket pair of its own, on a runtime with a worker per CPU.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use resources::reserve_descriptors;
use memory::{Brigade, Climb, Held, Units, started, wait_until_started};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

struct HoldTokioBrigade {
    /// The end that writes to whoever joined last, and so where the next to join is to pass the byte on to.
    end: Option<UnixStream>,
    held: usize,
    future_bytes: Option<usize>,
    // Dropped last: the end belongs to it.
    runtime: Runtime,
}

impl Units for HoldTokioBrigade {
    type Parameters = Brigade;

    fn set_up(parameters: &Brigade) -> Result<Self> {
        reserve_descriptors(2 * parameters.most() + 2)?;
        let runtime = Builder::new_multi_thread().enable_io().build()?;
        let (end, _) = runtime.block_on(async { UnixStream::pair() })?;
        Ok(Self { end: Some(end), held: 0, future_bytes: None, runtime })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        let _entered = self.runtime.enter();
        for _ in 0..count {
            let (end, from) = UnixStream::pair()?;
            let to = self.end.replace(end).expect("it is taken only at the end");
            let future = pass_on(from, to);
            self.future_bytes = Some(size_of_val(&future));
            self.runtime.spawn(future);
        }
        self.held += count;
        wait_until_started(self.held)
    }

    fn future_bytes(&self) -> Option<usize> {
        self.future_bytes
    }
}

async fn pass_on(mut from: UnixStream, mut to: UnixStream) -> io::Result<()> {
    let mut byte = [0];
    started();
    while from.read(&mut byte).await? == 1 {
        to.write_all(&byte).await?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::once::<Climb<HoldTokioBrigade>>(harness::name!())
}
