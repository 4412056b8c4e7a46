//! `tally become`: becomes another program, which ends with the process that started this one.

use std::ffi::OsString;
use std::process::exit;

use clap::Args;

use crate::measure::bound::{CANNOT_START, become_bound};
use crate::say;

/// Become a program that ends with its parent
#[derive(Args)]
pub struct Become {
    /// The process that it ends with, which has started this one
    parent: u32,
    /// The program
    program: OsString,
    /// What it is told
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Become {
    /// Becomes it, or ends with a status that says that it cannot.
    pub fn run(&self) -> ! {
        match become_bound(self.parent, &self.program, &self.arguments) {
            Err(error) => say!("tally: {error:#}"),
        }
        exit(CANNOT_START)
    }
}
