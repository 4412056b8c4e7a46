//! One operation: one connection with one request, an order as JSON over HTTP/1.1, answered by a thread that is created for it.

use std::net::TcpListener;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use does_it_matter::accepting::{accept, or_close};
use does_it_matter::brief::{self, Work};
use does_it_matter::parameters::OnThreads;

fn brief_thread(listener: TcpListener, own: OnThreads, work: Work) -> Result<()> {
    loop {
        let stream = accept(&listener)?;
        let work = work.clone();
        // What ends one connection, an error too, is of no concern to the others.
        or_close(thread::Builder::new().stack_size(own.stack_bytes).spawn(move || work.converse(stream)));
    }
}

fn main() -> ExitCode {
    brief::main(harness::name!(), brief_thread)
}
