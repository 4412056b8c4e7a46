//! One operation: one request, an order as JSON over HTTP/1.1, answered by a thread that has one connection, on any of the server's CPUs.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use does_it_matter::accepting::{accept, or_close};
use does_it_matter::http::{Stock, WAITING_ROOM};
use does_it_matter::serving::Answered;
use does_it_matter::spread::{self, Cpus};

/// Of each connection's thread.
const STACK_BYTES: usize = 256 << 10;

fn spread_thread(listener: TcpListener, _: Cpus, answered: Answered) -> Result<()> {
    loop {
        // This thread may run on all the server's CPUs, and so may those that it starts.
        let stream = accept(&listener)?;
        let answered = answered.clone();
        // What ends one connection, an error too, is of no concern to the others.
        or_close(thread::Builder::new().stack_size(STACK_BYTES).spawn(move || converse(stream, &answered)));
    }
}

fn converse(mut stream: TcpStream, answered: &Answered) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Buffers of its own: CPUs share nothing but the count of answers.
    let (stock, mut begin) = (Stock::default(), [0; WAITING_ROOM]);
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

fn main() -> ExitCode {
    spread::main(harness::name!(), spread_thread)
}
