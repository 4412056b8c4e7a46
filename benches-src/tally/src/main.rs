//! See the library's documentation.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match tally::command_line::CommandLine::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tally::say!("tally: {error:#}");
            ExitCode::FAILURE
        }
    }
}
