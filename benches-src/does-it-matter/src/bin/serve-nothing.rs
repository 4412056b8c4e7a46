//! One operation: one request of a length known beforehand, answered with the same bytes each time, so that the load generator has the more to do.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::process::ExitCode;

use anyhow::Result;
use does_it_matter::http;
use does_it_matter::order::Order;
use does_it_matter::serving::{self, Answered, Shared};
use harness::Nothing;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

fn serve_nothing(listener: TcpListener, _: Nothing, shared: Shared) -> Result<()> {
    let json = Order::of_bytes(1, shared.json_bytes).to_json();
    let (request_bytes, answer) = (http::request(&json).len(), http::answer_to(&json));
    listener.set_nonblocking(true)?;
    let mut listener = mio::net::TcpListener::from_std(listener);
    let (mut poll, mut events, mut room) = (Poll::new()?, Events::with_capacity(1024), vec![0; 64 << 10]);
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut connections: Vec<Option<Connection>> = Vec::new();
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            if event.token() == LISTENER {
                while let Some(mut stream) = unless_it_would_block(listener.accept())?.map(|(stream, _)| stream) {
                    stream.set_nodelay(true)?;
                    let interest = Interest::READABLE | Interest::WRITABLE;
                    poll.registry().register(&mut stream, Token(connections.len()), interest)?;
                    connections.push(Some(Connection { stream, came: 0, written: 0 }));
                }
            } else if let Some(connection) = &mut connections[event.token().0] {
                let open = connection.go_on(&mut room, request_bytes, &answer, &shared.answered);
                if !open.unwrap_or(false) {
                    connections[event.token().0] = None;
                }
            }
        }
    }
}

struct Connection {
    stream: TcpStream,
    /// Bytes of requests that have come and are not answered.
    came: usize,
    /// Bytes of the answer that have been written.
    written: usize,
}

const LISTENER: Token = Token(usize::MAX);

impl Connection {
    /// Does what can be done without waiting, and says whether the client may still send.
    fn go_on(&mut self, room: &mut [u8], request: usize, answer: &[u8], answered: &Answered) -> std::io::Result<bool> {
        loop {
            while self.came >= request {
                if self.written == 0 {
                    answered.one();
                }
                match unless_it_would_block(self.stream.write(&answer[self.written..]))? {
                    Some(bytes) => self.written += bytes,
                    None => return Ok(true),
                }
                if self.written == answer.len() {
                    (self.written, self.came) = (0, self.came - request);
                }
            }
            match unless_it_would_block(self.stream.read(room))? {
                Some(0) => return Ok(false),
                Some(bytes) => self.came += bytes,
                None => return Ok(true),
            }
        }
    }
}

fn unless_it_would_block<T>(done: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        done => done.map(Some),
    }
}

fn main() -> ExitCode {
    serving::main_of_nothing(harness::name!(), serve_nothing)
}
