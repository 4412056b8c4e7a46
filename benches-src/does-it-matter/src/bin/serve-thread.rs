//! One operation: one request, an order as JSON over HTTP/1.1, answered by a thread that has one connection and nothing else to do.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use clap::Args;
use does_it_matter::accepting::{accept, or_close};
use does_it_matter::http::{Buffers, Stock, WAITING_ROOM};
use does_it_matter::serving::{self, Answered, Shared};
use rustls::{ServerConnection, StreamOwned};
use serde::Serialize;

fn serve_thread(listener: TcpListener, own: Own, shared: Shared) -> Result<()> {
    serving::limit_arenas(own.arenas);
    let of_all = Stock::default();
    loop {
        let stream = accept(&listener)?;
        let (stock, answered, tls) = (own.buffers.stock(&of_all), shared.answered.clone(), shared.tls.clone());
        // What ends one connection, an error too, is of no concern to the others.
        or_close(thread::Builder::new().stack_size(own.stack_bytes).spawn(move || -> Result<()> {
            stream.set_nodelay(true)?;
            match tls {
                None => converse(stream, &stock, &answered)?,
                Some(config) => converse(StreamOwned::new(ServerConnection::new(config)?, stream), &stock, &answered)?,
            }
            Ok(())
        }));
    }
}

fn converse(mut stream: impl Read + Write, stock: &Stock, answered: &Answered) -> io::Result<()> {
    let mut begin = [0; WAITING_ROOM];
    loop {
        let mut exchange = match stream.read(&mut begin)? {
            0 => return Ok(()),
            bytes => stock.lend(&begin[..bytes]),
        };
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                answered.count(&answer);
                stream.write_all(answer.bytes)?;
                if answer.last {
                    return Ok(());
                }
            } else {
                match stream.read(exchange.room())? {
                    0 => return Ok(()),
                    bytes => exchange.came(bytes),
                }
            }
        }
    }
}

#[derive(Args, Serialize, Clone)]
struct Own {
    /// The stack of each connection's thread
    #[arg(long, default_value_t = 256 << 10)]
    stack_bytes: usize,
    /// Whose buffers requests and answers are put into
    #[arg(long, value_enum, default_value_t = Buffers::Lent)]
    buffers: Buffers,
    /// Between how many arenas glibc's allocator may divide the threads; 0 for as many as it likes, which is eight for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..))]
    arenas: i32,
}

fn main() -> ExitCode {
    serving::main(harness::name!(), serve_thread)
}
