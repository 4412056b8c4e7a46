//! One operation: one connection with one request, an order as JSON over HTTP/1.1, answered by a thread that is created for it.

use std::net::TcpListener;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use brief::Work;
use clap::Args;
use serde::Serialize;

#[path = "../brief.rs"]
mod brief;

fn brief_thread(listener: TcpListener, own: Own, work: Work) -> Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let work = work.clone();
        // What ends one connection, an error too, is of no concern to the others.
        thread::Builder::new().stack_size(own.stack_bytes).spawn(move || work.converse(stream))?;
    }
}

#[derive(Args, Serialize, Clone)]
struct Own {
    /// The stack of each connection's thread
    #[arg(long, default_value_t = 256 << 10)]
    stack_bytes: usize,
}

fn main() -> ExitCode {
    brief::main(harness::name!(), brief_thread)
}
