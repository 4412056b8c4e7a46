//! One operation: one request that asks another service before it is answered, by a tokio task that has one connection of each.

use std::io;
use std::net::TcpListener;
use std::process::ExitCode;

use anyhow::Result;
use does_it_matter::accepting::accept_on_tokio;
use does_it_matter::asking::{self, BAD_GATEWAY, Upstream, Work};
use does_it_matter::http::WAITING_ROOM;
use does_it_matter::parameters::OnTokio;
use does_it_matter::question::ANSWER;
use harness::Placement;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn ask_tokio(listener: TcpListener, own: OnTokio, placement: Placement, work: Work) -> Result<()> {
    listener.set_nonblocking(true)?;
    own.runtime.start(placement)?.block_on(async {
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
    let (mut service, mut begin) = (None, [0; WAITING_ROOM]);
    loop {
        let mut exchange = match stream.read(&mut begin).await? {
            0 => return Ok(()),
            bytes => work.stock.lend(&begin[..bytes]),
        };
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                if answer.served && ask(&work.upstream, &mut service).await.is_err() {
                    return stream.write_all(BAD_GATEWAY).await;
                }
                work.answered.count(&answer);
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

/// Asks all that a request has to ask, and waits for each answer, on a connection that is kept.
async fn ask(upstream: &Upstream, kept: &mut Option<TcpStream>) -> io::Result<()> {
    let mut answer = [0; ANSWER];
    for _ in 0..upstream.calls {
        let service = match kept {
            Some(service) => service,
            None => kept.insert(TcpStream::connect(upstream.address).await?),
        };
        let question = upstream.question();
        service.write_all(&question).await?;
        service.read_exact(&mut answer).await?;
        Upstream::check(&question, &answer)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    asking::main(harness::name!(), ask_tokio)
}
