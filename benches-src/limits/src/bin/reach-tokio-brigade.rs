//! One operation: one tokio task that waits for a byte from the one before it, over a socket pair, alive at once with all before it.

use std::mem::replace;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use limits::{Climb, Needs, Nothing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Builder;

fn reach_tokio_brigade(_: Nothing, climb: Climb) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let (mut first, mut last) = {
        let _entered = runtime.enter();
        UnixStream::pair()?
    };
    let passed = Arc::<AtomicU64>::default();
    let top = climb.add_units(|| {
        let _entered = runtime.enter();
        let (mut to, next) = UnixStream::pair()?;
        let mut from = replace(&mut last, next);
        let passed = passed.clone();
        runtime.spawn(async move {
            let mut token = [0];
            while from.read_exact(&mut token).await.is_ok() {
                passed.fetch_add(1, Ordering::Relaxed);
                if to.write_all(&token).await.is_err() {
                    break;
                }
            }
        });
        Ok(())
    })?;
    runtime.block_on(async {
        // Whoever is alive hands the byte on, and so it comes out at the other end.
        first.write_all(&[1]).await?;
        last.read_exact(&mut [0]).await
    })?;
    top.report(passed.load(Ordering::Relaxed))
}

fn main() -> ExitCode {
    limits::reach(harness::name!(), |_| Needs::TASK_BRIGADE, reach_tokio_brigade)
}
