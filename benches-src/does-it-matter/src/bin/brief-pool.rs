//! One operation: one connection with one request, an order as JSON over HTTP/1.1, served to its end by one of a pool of threads.

use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::Args;
use does_it_matter::accepting::accept;
use does_it_matter::brief::{self, Work};
use serde::Serialize;

fn brief_pool(listener: TcpListener, own: Own, work: Work) -> Result<()> {
    let listener = Arc::new(listener);
    for _ in 1..own.workers {
        let (listener, work) = (listener.clone(), work.clone());
        thread::Builder::new().stack_size(own.stack_bytes).spawn(move || serve(&listener, &work))?;
    }
    serve(&listener, &work)
}

/// What a thread of the pool does: it waits for a connection and serves that to its end.
fn serve(listener: &TcpListener, work: &Work) -> Result<()> {
    loop {
        // What ends one connection, an error too, is of no concern to the others.
        let _ = work.converse(accept(listener)?);
    }
}

#[derive(Args, Serialize, Clone)]
struct Own {
    /// Threads of the pool
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    workers: u32,
    /// The stack of each
    #[arg(long, default_value_t = 256 << 10)]
    stack_bytes: usize,
}

fn main() -> ExitCode {
    brief::main(harness::name!(), brief_pool)
}
