//! One operation: one request, an order as JSON over HTTP/1.1, answered by a tokio task that parses it exactly as serve-thread does.

use std::io;
use std::net::TcpListener;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use does_it_matter::accepting::accept_on_tokio;
use does_it_matter::http::{Buffers, Stock, WAITING_ROOM};
use does_it_matter::serving::{self, Answered, Shared};
use runtime::Flavor;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

fn serve_tokio_plain(listener: TcpListener, own: Own, shared: Shared) -> Result<()> {
    listener.set_nonblocking(true)?;
    own.runtime.start(shared.placement)?.block_on(async {
        let (listener, of_all) = (tokio::net::TcpListener::from_std(listener)?, Stock::default());
        loop {
            let stream = accept_on_tokio(&listener).await?;
            let (stock, answered, tls) = (own.buffers.stock(&of_all), shared.answered.clone(), shared.tls.clone());
            // What ends one connection, an error too, is of no concern to the others.
            tokio::spawn(async move {
                stream.set_nodelay(true)?;
                match tls {
                    None => converse(stream, &stock, &answered).await,
                    Some(config) => converse(TlsAcceptor::from(config).accept(stream).await?, &stock, &answered).await,
                }
            });
        }
    })
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    stock: &Stock,
    answered: &Answered,
) -> io::Result<()> {
    let mut begin = [0; WAITING_ROOM];
    loop {
        let mut exchange = match stream.read(&mut begin).await? {
            0 => return Ok(()),
            bytes => stock.lend(&begin[..bytes]),
        };
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                answered.count(&answer);
                stream.write_all(answer.bytes).await?;
                // Of a socket this does nothing; TLS may still hold a part of what it was given.
                stream.flush().await?;
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

#[derive(Args, Serialize, Clone)]
struct Own {
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t = Flavor::Current)]
    runtime: Flavor,
    /// Whose buffers requests and answers are put into
    #[arg(long, value_enum, default_value_t = Buffers::Lent)]
    buffers: Buffers,
}

fn main() -> ExitCode {
    serving::main(harness::name!(), serve_tokio_plain)
}
