//! One operation: one request, an order as JSON over HTTP/1.1, answered by a tokio task of one of several single-threaded runtimes, one for each CPU.

use std::future::pending;
use std::io;
use std::net::TcpListener;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use does_it_matter::accepting::accept;
use does_it_matter::http::{Stock, WAITING_ROOM};
use does_it_matter::serving::Answered;
use does_it_matter::spread::{self, Cpus};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

fn spread_runtimes(listener: TcpListener, cpus: Cpus, answered: Answered) -> Result<()> {
    let mut runtimes = Vec::new();
    for index in 0..cpus.count() {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        runtimes.push(runtime.handle().clone());
        // A thread inherits the place of the thread that starts it.
        cpus.pin(index)?;
        thread::spawn(move || runtime.block_on(pending::<()>()));
    }
    cpus.enter()?;
    let mut turn = 0;
    loop {
        let stream = accept(&listener)?;
        let answered = answered.clone();
        // In turn: with SO_REUSEPORT chance would give one CPU more connections than another, and differently in each round.
        // What ends one connection, an error too, is of no concern to the others.
        runtimes[turn].spawn(async move {
            stream.set_nonblocking(true)?;
            converse(TcpStream::from_std(stream)?, &answered).await
        });
        turn = (turn + 1) % runtimes.len();
    }
}

async fn converse(mut stream: TcpStream, answered: &Answered) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Buffers of its own: CPUs share nothing but the count of answers.
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
    spread::main(harness::name!(), spread_runtimes)
}
