//! `tally become`: becomes another program, which ends with the process that started this one.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;

use crate::measure::bound::become_bound;

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
    /// Becomes it.
    pub fn run(&self) -> Result<()> {
        match become_bound(self.parent, &self.program, &self.arguments)? {}
    }
}
