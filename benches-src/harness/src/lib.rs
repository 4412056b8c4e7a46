//! What every measured program stands on: the clock, the counters, and the observation it prints.
//!
//! A program is one file, one process and one function. The function sets up, hands what is measured to what it was given for that, and takes
//! down; everything outside of that is outside the clock. `main` chooses one of two entries:
//!
//! - [`repeat`]: an operation that can be done again and again. The function is handed a [`Clock`], Criterion decides how often, and every
//!   sample is kept with its counters.
//! - [`once`]: an experiment that is its own measurement (a memory ledger, a count that was reached). The function is handed a [`Report`].
//!
//! **Never here:** a chapter, a page, a data folder. A program prints nothing but what this crate prints for it, and does
//! no statistics.

mod clock;
mod command_line;
mod counters;
mod describe;
mod laps;
mod placement;
mod program;
mod report;
mod sampling;
mod unavailable;

pub use clock::Clock;
pub use describe::{Described, described};
pub use laps::{Laps, Running, monotonic_ns};
pub use placement::Placement;
pub use program::{Nothing, once, repeat};
pub use report::{Findings, Report};
pub use unavailable::Unavailable;

/// The name of the program that is being compiled: its chapter's crate and its own file.
#[macro_export]
macro_rules! name {
    () => {
        concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_BIN_NAME"))
    };
}
