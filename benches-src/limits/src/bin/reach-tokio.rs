//! One operation: one tokio task that waits for ever, alive at once with all before it.

use std::future::pending;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use limits::{Crowd, Needs, Nothing};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

struct Tasks {
    runtime: Runtime,
    alive: Arc<AtomicU64>,
}

impl Crowd for Tasks {
    type Parameters = Nothing;
    const NEEDS: Needs = Needs::TASK;
    const STRIDE: u64 = 1 << 16;

    fn start(_: &Nothing) -> Result<Self> {
        Ok(Self { runtime: Builder::new_current_thread().build()?, alive: Arc::default() })
    }

    fn add(&mut self) -> io::Result<()> {
        let alive = self.alive.clone();
        self.runtime.spawn(async move {
            alive.fetch_add(1, Ordering::Relaxed);
            pending::<()>().await;
        });
        Ok(())
    }

    fn alive(&mut self, added: u64) -> Result<u64> {
        let alive = &self.alive;
        self.runtime.block_on(async {
            while alive.load(Ordering::Relaxed) < added {
                yield_now().await;
            }
        });
        Ok(alive.load(Ordering::Relaxed))
    }
}

fn main() -> ExitCode {
    limits::reach::<Tasks>(harness::name!())
}
