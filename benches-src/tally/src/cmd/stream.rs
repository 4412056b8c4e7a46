//! `tally stream`: what tally starts for the condition `streamer`, and not for people.

use anyhow::Result;
use clap::Args;

use crate::measure::background::stream;

/// Read through memory on one CPU until killed, giving way to everything else
#[derive(Args)]
pub struct Stream {
    /// The CPU
    cpu: usize,
    /// How much memory
    bytes: usize,
}

impl Stream {
    /// Does not return, unless it cannot stream.
    pub fn run(&self) -> Result<()> {
        match stream(self.cpu, self.bytes)? {}
    }
}
