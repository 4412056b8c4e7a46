//! How a task of this chapter's executor waits for a socket.

use std::io::{self, ErrorKind, Read, Write};
use std::task::{Context, Poll};

use async_vs_manual::fake::{Readiness, WouldBlock};
use async_vs_manual::reactor::{Known, Remembering, Waiter};
use mio::net::TcpStream;

/// Who waits for a socket, and what it is ready for.
pub type Wait = Remembering<Known>;

/// What an event says that can be done.
pub fn readiness(event: &mio::event::Event) -> Readiness {
    let readable = if event.is_readable() { Readiness::READABLE } else { Readiness::NONE };
    if event.is_writable() { readable.and(Readiness::WRITABLE) } else { readable }
}

/// Reads what is there, or lets this task wait.
pub fn poll_read(
    mut stream: &TcpStream,
    wait: &Wait,
    context: &mut Context<'_>,
    room: &mut [u8],
) -> Poll<io::Result<usize>> {
    wait.attempt(context, Readiness::READABLE, || {
        let read = unless_it_would_block(stream.read(room))?;
        if read.as_ref().is_ok_and(|bytes| *bytes < room.len()) {
            // That was all there was: the next bytes are an event of their own.
            wait.is_no_longer(Readiness::READABLE);
        }
        Ok(read)
    })
}

/// Writes what is taken, or lets this task wait.
pub fn poll_write(
    mut stream: &TcpStream,
    wait: &Wait,
    context: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    wait.attempt(context, Readiness::WRITABLE, || unless_it_would_block(stream.write(bytes)))
}

fn unless_it_would_block(done: io::Result<usize>) -> Result<io::Result<usize>, WouldBlock> {
    match done {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(WouldBlock),
        done => Ok(done),
    }
}
