//! What the programs share whose units sleep.

use std::time::Duration;

use clap::Args;
use serde::Serialize;

use crate::parameters::Held;

/// Longer than any climb.
pub const HOUR: Duration = Duration::from_secs(3600);

/// The parameters of units that sleep and touch nothing.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Sleepers {
    /// Units held at the last of eight evenly spaced counts
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(8..=10_000_000))]
    most: u64,
}

impl Held for Sleepers {
    fn most(&self) -> usize {
        self.most as usize
    }

    fn touch_bytes(&self) -> usize {
        0
    }
}
