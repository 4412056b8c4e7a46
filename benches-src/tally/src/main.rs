//! See the library's documentation.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// Records come and go as many small pieces, on which glibc's allocator spent a third of what
/// printing all pages took.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match tally::command_line::CommandLine::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tally::say!("tally: {error:#}");
            ExitCode::FAILURE
        }
    }
}
