//! tokio's two runtimes, as a parameter that the chapters share.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use clap::ValueEnum;
use harness::Placement;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

/// Which of tokio's runtimes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavor {
    /// A worker thread per allowed CPU; tokio's default
    #[default]
    Multi,
    /// Everything on the thread that calls `block_on`
    Current,
}

impl Flavor {
    /// Starts the runtime; its workers take their places as participants do.
    pub fn start(self, placement: Placement) -> Result<Runtime> {
        Ok(self.builder(placement)?.enable_io().build()?)
    }

    /// The runtime without any driver of input and output or of time.
    pub fn builder(self, placement: Placement) -> Result<Builder> {
        let mut builder = match self {
            Flavor::Multi => Builder::new_multi_thread(),
            Flavor::Current => {
                placement.pin_participant(0)?;
                Builder::new_current_thread()
            }
        };
        let started = AtomicUsize::new(0);
        builder.on_thread_start(move || {
            let index = started.fetch_add(1, Ordering::Relaxed);
            placement.pin_participant(index).expect("the placement was applied to the whole process before");
        });
        Ok(builder)
    }
}
