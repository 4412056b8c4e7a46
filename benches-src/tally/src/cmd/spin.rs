//! `tally spin`: what tally starts for the condition `spinners`, and not for people.

use anyhow::Result;
use clap::Args;

use crate::measure::background::spin;

/// Spin on one CPU until killed, giving way to everything else
#[derive(Args)]
pub struct Spin {
    /// The CPU
    cpu: usize,
}

impl Spin {
    /// Does not return, unless it cannot spin.
    pub fn run(&self) -> Result<()> {
        match spin(self.cpu)? {}
    }
}
