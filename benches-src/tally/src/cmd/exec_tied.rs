//! `tally exec-tied`: executes a program that ends with the process that started this one.

use std::ffi::OsString;
use std::process::exit;

use clap::Args;

use crate::measure::child::{CANNOT_START, exec_tied};
use crate::say;

/// Execute a program that ends with its parent
#[derive(Args)]
pub struct ExecTied {
    /// The parent, with which it ends
    parent: u32,
    /// The program
    program: OsString,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl ExecTied {
    /// Replaces this process, or exits with a status that says why not.
    pub fn run(&self) -> ! {
        match exec_tied(self.parent, &self.program, &self.arguments) {
            Err(error) => say!("tally: {error:#}"),
        }
        exit(CANNOT_START)
    }
}
