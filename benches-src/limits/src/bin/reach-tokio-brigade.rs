//! One operation: one tokio task that waits for a byte from the one before it, over a socket pair, alive at once with all before it.

use std::io;
use std::mem::replace;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use limits::{Crowd, Needs, Nothing};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

struct Brigade {
    runtime: Runtime,
    first: UnixStream,
    last: UnixStream,
    passed: Arc<AtomicU64>,
}

impl Crowd for Brigade {
    type Parameters = Nothing;
    const NEEDS: Needs = Needs::TASK_BRIGADE;

    fn start(_: &Nothing) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (first, last) = {
            let _entered = runtime.enter();
            UnixStream::pair()?
        };
        Ok(Self { runtime, first, last, passed: Arc::default() })
    }

    fn add(&mut self) -> io::Result<()> {
        let _entered = self.runtime.enter();
        let (mut to, next) = UnixStream::pair()?;
        let mut from = replace(&mut self.last, next);
        let passed = self.passed.clone();
        self.runtime.spawn(async move {
            let mut token = [0];
            while from.read_exact(&mut token).await.is_ok() {
                passed.fetch_add(1, Ordering::Relaxed);
                if to.write_all(&token).await.is_err() {
                    break;
                }
            }
        });
        Ok(())
    }

    fn alive(&mut self, _: u64) -> Result<u64> {
        let Self { runtime, first, last, passed } = self;
        runtime.block_on(async {
            // Whoever is alive hands the byte on, and so it comes out at the other end.
            first.write_all(&[1]).await?;
            last.read_exact(&mut [0]).await?;
            Ok(passed.load(Ordering::Relaxed))
        })
    }
}

fn main() -> ExitCode {
    limits::reach::<Brigade>(harness::name!())
}
