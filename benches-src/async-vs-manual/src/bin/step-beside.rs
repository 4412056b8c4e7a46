//! One operation: one request of 256, answered as by `step-table`, but the table is looked into beside the way: the connection is found
//! without it.

// The same loop; its `main` is not needed here.
#![allow(dead_code)]

use std::process::ExitCode;

#[path = "step-table.rs"]
mod step_table;

use step_table::StepTable;

fn main() -> ExitCode {
    async_vs_manual::main::<StepTable<false>>(harness::name!())
}
