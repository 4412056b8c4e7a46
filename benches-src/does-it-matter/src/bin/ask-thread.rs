//! One operation: one request that asks another service before it is answered, by a thread that has one connection of each.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use asking::{BAD_GATEWAY, Work};
use clap::Args;
use does_it_matter::http::WAITING_ROOM;
use harness::Placement;
use serde::Serialize;

#[path = "../asking.rs"]
mod asking;

fn ask_thread(listener: TcpListener, own: Own, _: Placement, work: Work) -> Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let work = work.clone();
        // What ends one connection, an error too, is of no concern to the others.
        thread::Builder::new().stack_size(own.stack_bytes).spawn(move || converse(stream, &work))?;
    }
}

fn converse(mut stream: TcpStream, work: &Work) -> Result<()> {
    let (mut service, mut begin) = (None, [0; WAITING_ROOM]);
    loop {
        let bytes = stream.read(&mut begin)?;
        if bytes == 0 {
            return Ok(());
        }
        let mut exchange = work.stock.lend(&begin[..bytes]);
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                if answer.served {
                    if work.upstream.ask(&mut service).is_err() {
                        return Ok(stream.write_all(BAD_GATEWAY)?);
                    }
                    work.answered.one();
                }
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
}

fn main() -> ExitCode {
    asking::main(harness::name!(), ask_thread)
}
