//! One operation: one request, an order as JSON over HTTP/1.1, answered by a tokio task that any of the workers may run: there is one for each CPU.

use std::io;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use does_it_matter::accepting::accept_on_tokio;
use does_it_matter::http::{Stock, WAITING_ROOM};
use does_it_matter::serving::Answered;
use does_it_matter::spread::{self, Cpus};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

fn spread_tokio(listener: TcpListener, cpus: Cpus, answered: Answered) -> Result<()> {
    listener.set_nonblocking(true)?;
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(cpus.count()).enable_io();
    let started = AtomicUsize::new(0);
    builder.on_thread_start(move || {
        cpus.pin(started.fetch_add(1, Ordering::Relaxed)).expect("the server has entered these CPUs before");
    });
    builder.build()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let stream = accept_on_tokio(&listener).await?;
            let answered = answered.clone();
            // What ends one connection, an error too, is of no concern to the others.
            tokio::spawn(async move { converse(stream, &answered).await });
        }
    })
}

async fn converse(mut stream: TcpStream, answered: &Answered) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Buffers of its own: CPUs share nothing but the count of answers, and what the runtime shares.
    let (stock, mut begin) = (Stock::default(), [0; WAITING_ROOM]);
    loop {
        let mut exchange = match stream.read(&mut begin).await? {
            0 => return Ok(()),
            bytes => stock.lend(&begin[..bytes]),
        };
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                answered.count(&answer);
                stream.write_all(answer.bytes).await?;
                if answer.last {
                    return Ok(());
                }
            } else {
                match stream.read(exchange.room()).await? {
                    0 => return Ok(()),
                    bytes => exchange.came(bytes),
                }
            }
        }
    }
}

fn main() -> ExitCode {
    spread::main(harness::name!(), spread_tokio)
}
