//! One operation: one request that asks another service before it is answered, by a thread that has one connection of each.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use does_it_matter::accepting::{accept, or_close};
use does_it_matter::asking::{self, BAD_GATEWAY, Work};
use does_it_matter::http::WAITING_ROOM;
use does_it_matter::parameters::OnThreads;
use harness::Placement;

fn ask_thread(listener: TcpListener, own: OnThreads, _: Placement, work: Work) -> Result<()> {
    loop {
        let stream = accept(&listener)?;
        let work = work.clone();
        // What ends one connection, an error too, is of no concern to the others.
        or_close(thread::Builder::new().stack_size(own.stack_bytes).spawn(move || converse(stream, &work)));
    }
}

fn converse(mut stream: TcpStream, work: &Work) -> Result<()> {
    stream.set_nodelay(true)?;
    let (mut service, mut begin) = (None, [0; WAITING_ROOM]);
    loop {
        let mut exchange = match stream.read(&mut begin)? {
            0 => return Ok(()),
            bytes => work.stock.lend(&begin[..bytes]),
        };
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                if answer.served && work.upstream.ask(&mut service).is_err() {
                    return Ok(stream.write_all(BAD_GATEWAY)?);
                }
                work.answered.count(&answer);
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
    asking::main(harness::name!(), ask_thread)
}
