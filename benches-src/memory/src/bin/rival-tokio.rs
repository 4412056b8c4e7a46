//! One operation: one tokio task held, created or switched to, as goroutines and threads are beside it.

use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, Result};
use memory::rival::{self, Rival, timed};
use tokio::runtime::{Builder, Runtime};
use tokio::spawn;
use tokio::sync::mpsc::channel;
use tokio::task::yield_now;

struct Tasks(Runtime);

impl Rival for Tasks {
    fn hold(&mut self, more: u64) -> Result<()> {
        let started = Arc::new(AtomicU64::new(0));
        self.0.block_on(async {
            for _ in 0..more {
                let started = started.clone();
                spawn(async move {
                    started.fetch_add(1, Relaxed);
                    pending::<()>().await;
                });
            }
            while started.load(Relaxed) < more {
                yield_now().await;
            }
            Ok(())
        })
    }

    fn create(&mut self, count: u64) -> Result<Duration> {
        let created = async {
            for _ in 0..count {
                spawn(async {}).await?;
            }
            Ok(())
        };
        timed(|| self.0.block_on(created))
    }

    fn hop(&mut self, count: u64) -> Result<Duration> {
        let ((there, mut came), (back, mut returned)) = (channel(1), channel(1));
        let hopped = async move {
            let other = spawn(async move {
                while let Some(token) = came.recv().await {
                    back.send(token).await?;
                }
                anyhow::Ok(())
            });
            let own = spawn(async move {
                for _ in 0..count / 2 {
                    there.send(1).await?;
                    returned.recv().await.context("the other hands it back")?;
                }
                anyhow::Ok(())
            });
            own.await??;
            other.await?
        };
        timed(|| self.0.block_on(hopped))
    }
}

fn main() -> ExitCode {
    rival::main(harness::name!(), || Ok(Tasks(Builder::new_current_thread().build()?)))
}
