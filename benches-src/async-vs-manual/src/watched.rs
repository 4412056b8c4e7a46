//! An event loop over epoll itself, which is told of connections in one of the ways that epoll has.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use anyhow::{Result, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::retry_on_intr;

use crate::sockets::Line;

/// Answers lines until all connections have been closed by their clients, and says how many it has answered.
#[inline]
pub fn echo(streams: Vec<TcpStream>, flags: EventFlags) -> Result<u64> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut events = Vec::with_capacity(1024);
    let mut connections: Vec<_> = streams.into_iter().map(|stream| (Some(stream), Line::default())).collect();
    for (number, (stream, _)) in connections.iter().enumerate() {
        epoll::add(&epoll, stream.as_ref().expect("it is open"), EventData::new_u64(number as u64), flags)?;
    }
    let (mut open, mut answers) = (connections.len(), 0);
    while open > 0 {
        events.clear();
        retry_on_intr(|| epoll::wait(&epoll, spare_capacity(&mut events), None))?;
        for event in &events {
            let data = event.data;
            let (own, line) = &mut connections[data.u64() as usize];
            let Some(stream) = own else { continue };
            match answer(stream, line)? {
                None => {
                    *own = None;
                    open -= 1;
                }
                Some(more) => {
                    answers += more;
                    if flags.contains(EventFlags::ONESHOT) {
                        epoll::modify(&epoll, stream, data, flags)?;
                    }
                }
            }
        }
    }
    Ok(answers)
}

/// Reads what has come and answers each line of it; none where the client has closed.
#[inline]
fn answer(stream: &mut TcpStream, line: &mut Line) -> Result<Option<u64>> {
    let room = line.room();
    ensure!(!room.is_empty(), "a line is too long");
    match stream.read(room) {
        Ok(0) => return Ok(None),
        Ok(bytes) => line.came(bytes),
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Some(0)),
        Err(error) => return Err(error.into()),
    }
    let mut answers = 0;
    while let Some(complete) = line.complete() {
        // A client waits for the answer to its line before it sends another, so there is room for one.
        stream.write_all(complete)?;
        let bytes = complete.len();
        line.forget(bytes);
        answers += 1;
    }
    Ok(Some(answers))
}
