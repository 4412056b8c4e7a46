//! One operation: one request that asks another service before it is answered, by one of so many threads, which takes a connection when it has a request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::Args;
use does_it_matter::accepting::{accept, or_close};
use does_it_matter::asking::{self, BAD_GATEWAY, Work};
use does_it_matter::http::WAITING_ROOM;
use does_it_matter::ready::Ready;
use harness::Placement;
use serde::Serialize;

fn ask_pool(listener: TcpListener, own: Own, _: Placement, work: Work) -> Result<()> {
    let ready = Arc::new(Ready::new()?);
    for _ in 0..own.workers {
        let (ready, work, mut service) = (ready.clone(), work.clone(), None);
        let answer = move || -> Result<()> {
            loop {
                // What ends one connection, an error too, is of no concern to the others.
                ready.next(|stream| converse(stream, &work, &mut service).unwrap_or(false))?;
            }
        };
        thread::Builder::new().spawn(answer)?;
    }
    loop {
        or_close(ready.add(accept(&listener)?));
    }
}

/// Answers what has come, and says whether more may come.
fn converse(mut stream: &TcpStream, work: &Work, service: &mut Option<TcpStream>) -> Result<bool> {
    let mut begin = [0; WAITING_ROOM];
    let bytes = stream.read(&mut begin)?;
    let mut exchange = work.stock.lend(&begin[..bytes]);
    while !exchange.is_empty() {
        if let Some(answer) = exchange.answer() {
            if answer.served && work.upstream.ask(service).is_err() {
                *service = None;
                stream.write_all(BAD_GATEWAY)?;
                return Ok(false);
            }
            work.answered.count(&answer);
            stream.write_all(answer.bytes)?;
            if answer.last {
                return Ok(false);
            }
        } else {
            match stream.read(exchange.room())? {
                0 => return Ok(false),
                bytes => exchange.came(bytes),
            }
        }
    }
    Ok(bytes > 0)
}

#[derive(Args, Serialize, Clone)]
struct Own {
    /// Threads that answer
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    workers: u32,
}

fn main() -> ExitCode {
    asking::main(harness::name!(), ask_pool)
}
