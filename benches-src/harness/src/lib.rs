//! What every measured program stands on: the clock, the counters, and the observation it prints.
//!
//! A program is one file and one process. It chooses one of two entries:
//!
//! - [`repeat`]: an operation that can be done again and again. Set-up stays outside the clock, Criterion decides how
//!   often, and every sample is kept with its counters.
//! - [`once`]: an experiment that is its own measurement (a memory ledger, a count that was reached).
//!
//! **Never here:** a chapter, a page, a data folder. A program prints nothing but what this crate prints for it, and does
//! no statistics.

pub mod cgroups;
mod clock;
mod command_line;
mod counters;
mod once;
mod placement;
mod repeat;
mod report;
mod resources;
mod sampling;
pub mod tool;

pub use clock::{Laps, Running, monotonic_ns};
pub use once::{Once, once};
pub use placement::Placement;
pub use repeat::{Repeat, repeat};
pub use resources::{Unavailable, reserve_descriptors, reserve_threads};

/// No parameters at all.
#[derive(clap::Args, serde::Serialize)]
pub struct Nothing {}

/// The name of the program that is being compiled: its chapter's crate and its own file.
#[macro_export]
macro_rules! name {
    () => {
        concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_BIN_NAME"))
    };
}
