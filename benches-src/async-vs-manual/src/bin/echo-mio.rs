//! One operation: one line that a client sends over a socket and gets back, from an event loop that is written by hand over mio.

use std::io::{ErrorKind, Read, Write};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use async_vs_manual::sockets::Line;
use harness::Placement;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

fn echo_mio(streams: Vec<std::net::TcpStream>, _: Placement) -> Result<u64> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut connections = Vec::new();
    for (token, stream) in streams.into_iter().enumerate() {
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        connections.push(Connection { stream: Some(stream), ..Connection::default() });
    }
    let mut open = connections.len();
    while open > 0 {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            let connection = &mut connections[event.token().0];
            if connection.go_on()? {
                connection.stream = None;
                open -= 1;
            }
        }
    }
    Ok(connections.iter().map(|connection| connection.answers).sum())
}

#[derive(Default)]
struct Connection {
    stream: Option<TcpStream>,
    line: Line,
    /// How much of a line that is complete has been written.
    written: usize,
    answers: u64,
}

impl Connection {
    /// Does what can be done without waiting, and says whether the client has closed.
    fn go_on(&mut self) -> Result<bool> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        let mut nothing_more = false;
        loop {
            while let Some(line) = self.line.complete() {
                match stream.write(&line[self.written..]) {
                    Ok(bytes) => self.written += bytes,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
                if self.written == line.len() {
                    self.line.forget(self.written);
                    self.written = 0;
                    self.answers += 1;
                }
            }
            // What did not fill the room was all there was: the next bytes are an event of their own.
            if nothing_more {
                return Ok(false);
            }
            let room = self.line.room();
            ensure!(!room.is_empty(), "a line is too long");
            match stream.read(room) {
                Ok(0) => return Ok(true),
                Ok(bytes) => {
                    nothing_more = bytes < room.len();
                    self.line.came(bytes);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn main() -> ExitCode {
    async_vs_manual::sockets::main(harness::name!(), echo_mio)
}
