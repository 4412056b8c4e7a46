//! One operation: one connection with one request, an order as JSON over HTTP/1.1, answered by a tokio task that is spawned for it.

use std::io;
use std::net::TcpListener;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use does_it_matter::accepting::accept_on_tokio;
use does_it_matter::brief::{self, Work};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

fn brief_tokio(listener: TcpListener, _: Own, work: Work) -> Result<()> {
    listener.set_nonblocking(true)?;
    Builder::new_current_thread().enable_io().build()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let stream = accept_on_tokio(&listener).await?;
            let work = work.clone();
            // What ends one connection, an error too, is of no concern to the others.
            tokio::spawn(async move { converse(stream, &work).await });
        }
    })
}

async fn converse(mut stream: TcpStream, work: &Work) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut exchange = work.stock.lend(b"");
    loop {
        while let Some(answer) = exchange.answer() {
            work.answered.count(&answer);
            stream.write_all(answer.bytes).await?;
            if answer.last {
                return Ok(());
            }
        }
        match stream.read(exchange.room()).await? {
            0 => return Ok(()),
            bytes => exchange.came(bytes),
        }
    }
}

#[derive(Args, Serialize, Clone)]
struct Own {}

fn main() -> ExitCode {
    brief::main(harness::name!(), brief_tokio)
}
