//! One operation: one request, an order as JSON over HTTP/1.1, answered by a task of one of several
//! runtimes of monoio, one for each CPU, that wait for io_uring instead of epoll.

use std::io::{self, Read, Write};
use std::net::{self, Shutdown};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::Result;
use does_it_matter::accepting::accept;
use does_it_matter::http::{Exchange, Stock, WAITING_ROOM};
use does_it_matter::serving::Answered;
use does_it_matter::spread::{self, Cpus};
use harness::Unavailable;
use monoio::io::{AsyncReadRent, AsyncReadRentExt, AsyncWriteRentExt};
use monoio::net::TcpStream;
use monoio::{IoUringDriver, Runtime, RuntimeBuilder};

fn spread_monoio(listener: net::TcpListener, cpus: Cpus, answered: Answered) -> Result<()> {
    // Where io_uring is forbidden, that is said here, and not by a thread that nobody hears.
    drop(runtime()?);
    let mut runtimes = Vec::new();
    for index in 0..cpus.count() {
        // A thread inherits the place of the thread that starts it, and its runtime stays there.
        cpus.pin(index)?;
        let ((connections, accepted), (bell, rings)) = (channel(), UnixStream::pair()?);
        let answered = answered.clone();
        thread::spawn(move || runtime()?.block_on(take(accepted, rings, answered)));
        runtimes.push((connections, bell));
    }
    cpus.enter()?;
    for runtime in &runtimes {
        wait_for(runtime)?;
    }
    for runtime in runtimes.iter().cycle() {
        hand_over(&listener, runtime)?;
    }
    Ok(())
}

fn hand_over(listener: &net::TcpListener, (connections, bell): &(Sender<net::TcpStream>, UnixStream)) -> Result<()> {
    connections.send(accept(listener)?)?;
    Ok((&*bell).write_all(&[0])?)
}

/// A runtime that closes a connection has its own descriptor. Later connections may take the last.
fn wait_for(runtime: &(Sender<net::TcpStream>, UnixStream)) -> Result<()> {
    let own = net::TcpListener::bind(("127.0.0.1", 0))?;
    let mut first = net::TcpStream::connect(own.local_addr()?)?;
    hand_over(&own, runtime)?;
    first.shutdown(Shutdown::Write)?;
    first.read_to_end(&mut Vec::new())?;
    Ok(())
}

fn runtime() -> Result<Runtime<IoUringDriver>> {
    let built = RuntimeBuilder::<IoUringDriver>::new().build();
    built.map_err(|error| Unavailable::because(format!("monoio cannot set up io_uring: {error}")))
}

/// A byte comes with each connection: it wakes the runtime, which waits for the kernel alone.
async fn take(accepted: Receiver<net::TcpStream>, rings: UnixStream, answered: Answered) -> Result<()> {
    let mut rings = monoio::net::UnixStream::from_std(rings)?;
    loop {
        rings.read_u8().await?;
        let (stream, answered) = (accepted.recv()?, answered.clone());
        // What ends one connection, an error too, is of no concern to the others.
        monoio::spawn(async move { converse(TcpStream::from_std(stream)?, &answered).await });
    }
}

async fn converse(mut stream: TcpStream, answered: &Answered) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // The kernel owns the buffer of a read or a write that is under way, so each connection has
    // three beside the stock's, and copies.
    let (stock, mut begin, mut rest, mut out) = (Stock::default(), vec![0; WAITING_ROOM], vec![0; 8 << 10], vec![]);
    loop {
        let (read, own) = stream.read(begin).await;
        begin = own;
        let mut exchange = match read? {
            0 => return Ok(()),
            bytes => stock.lend(&begin[..bytes]),
        };
        while !exchange.is_empty() {
            if let Some(answer) = exchange.answer() {
                answered.count(&answer);
                answer.bytes.clone_into(&mut out);
                let last = answer.last;
                let (written, own) = stream.write_all(out).await;
                out = own;
                written?;
                if last {
                    return Ok(());
                }
            } else {
                let (read, own) = stream.read(rest).await;
                rest = own;
                match read? {
                    0 => return Ok(()),
                    bytes => put(&mut exchange, &rest[..bytes]),
                }
            }
        }
    }
}

fn put(exchange: &mut Exchange<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let room = exchange.room();
        let (now, later) = bytes.split_at(bytes.len().min(room.len()));
        room[..now.len()].copy_from_slice(now);
        exchange.came(now.len());
        bytes = later;
    }
}

fn main() -> ExitCode {
    spread::main(harness::name!(), spread_monoio)
}
