//! One operation: one request of 256, answered as by `step-table`, but the table is looked into beside the way: the connection is found
//! without it.

// The same loop; its `main` is not needed here.
#![allow(dead_code)]

use std::process::ExitCode;

use async_vs_manual::fake::Network;

#[path = "step-table.rs"]
mod step_table;

use step_table::by_table;

pub(crate) fn step_beside(network: &Network, laps: impl Iterator<Item = ()>) {
    by_table::<false>(network, laps);
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_beside)
}
