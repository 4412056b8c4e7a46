//! The same exchange over real sockets: clients on a thread of their own send a line on each connection and wait for all of them to
//! come back. The clients read and write by the system calls of these names; servers send and receive.

use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use harness::Placement;
use serde::Serialize;

use crate::fake::LINE;
use crate::server::{ROOM, end_of_line};

/// The parameters of a server on sockets.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Clients {
    /// Connections over the loopback interface, each with one request under way
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub connections: u32,
}

/// The whole of a program's `main`. `serve` answers lines until all connections have been closed by their clients, and says how many it has
/// answered. It runs on a thread of its own, and the streams that it is given do not block.
pub fn main(name: &str, serve: impl FnOnce(Vec<TcpStream>, Placement) -> Result<u64> + Send + 'static) -> ExitCode {
    harness::repeat(name, |Clients { connections }, placement, clock| {
        let (clients, server) = connect(connections, placement, serve)?;
        clock.time(clients.len() as u64, |laps| {
            for () in laps {
                for client in &clients {
                    ensure!(rustix::io::write(client, LINE)? == LINE.len(), "a line was sent in part");
                }
                for client in &clients {
                    read_line(client)?;
                }
            }
            Ok(())
        })?;
        drop(clients);
        server.join().map_err(|_| anyhow!("the server panicked"))?
    })
}

/// The clients' ends of so many connections, and the thread that serves at the others.
fn connect(
    connections: u32,
    placement: Placement,
    serve: impl FnOnce(Vec<TcpStream>, Placement) -> Result<u64> + Send + 'static,
) -> Result<(Vec<TcpStream>, JoinHandle<Result<u64>>)> {
    resources::reserve_descriptors(2 * connections as usize + 40)?;
    resources::reserve_connections(connections as usize)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let (mut clients, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..connections {
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (stream, _) = listener.accept()?;
        client.set_nodelay(true)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        clients.push(client);
        streams.push(stream);
    }
    let server = thread::spawn(move || {
        placement.pin_participant(0)?;
        serve(streams, placement)
    });
    placement.pin_participant(1)?;
    Ok((clients, server))
}

fn read_line(client: &TcpStream) -> Result<()> {
    let mut line = [0; LINE.len()];
    let mut filled = 0;
    while filled < line.len() {
        let bytes = rustix::io::read(client, &mut line[filled..]).context("an answer")?;
        ensure!(bytes > 0, "the server closed a connection");
        filled += bytes;
    }
    ensure!(line == *LINE, "an answer is not what was sent");
    Ok(())
}

/// A line as it comes in.
pub struct Line {
    room: [u8; ROOM],
    filled: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { room: [0; ROOM], filled: 0 }
    }
}

impl Line {
    /// Where the next bytes go.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.room[self.filled..]
    }

    /// So many bytes have come.
    pub fn came(&mut self, bytes: usize) {
        self.filled += bytes;
    }

    /// The first line with its end, once it is complete.
    pub fn complete(&self) -> Option<&[u8]> {
        end_of_line(&self.room[..self.filled]).map(|end| &self.room[..end])
    }

    /// The first line, which is so long, is done with.
    pub fn forget(&mut self, bytes: usize) {
        self.room.copy_within(bytes..self.filled, 0);
        self.filled -= bytes;
    }
}
