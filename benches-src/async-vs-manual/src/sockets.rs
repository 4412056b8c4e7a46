//! The same exchange over real sockets: clients on a thread of their own send a line on each connection and wait for all of them to
//! come back. The clients read and write by the system calls of these names; servers send and receive.

use std::marker::PhantomData;
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use harness::{Laps, Placement, Repeat};
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

/// A way to serve connections until all of them have been closed by their clients.
pub trait ServeSockets: 'static {
    /// Answers lines and says how many. The streams do not block.
    fn serve(streams: Vec<TcpStream>, placement: Placement) -> Result<u64>;
}

/// Clients, and the server under test.
pub struct Lines<S> {
    clients: Vec<TcpStream>,
    server: JoinHandle<Result<u64>>,
    kind: PhantomData<S>,
}

impl<S: ServeSockets> Repeat for Lines<S> {
    type Parameters = Clients;

    fn set_up(parameters: &Clients, placement: Placement) -> Result<Self> {
        resources::reserve_descriptors(2 * parameters.connections as usize + 40)?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (mut clients, mut streams) = (Vec::new(), Vec::new());
        for _ in 0..parameters.connections {
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
            S::serve(streams, placement)
        });
        placement.pin_participant(1)?;
        Ok(Self { clients, server, kind: PhantomData })
    }

    fn operations_per_lap(&self) -> u64 {
        self.clients.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            for client in &self.clients {
                ensure!(rustix::io::write(client, LINE)? == LINE.len(), "a line was sent in part");
            }
            for client in &self.clients {
                read_line(client)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.clients);
        self.server.join().map_err(|_| anyhow!("the server panicked"))?
    }
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

/// The whole of a program's `main`.
pub fn main<S: ServeSockets>(name: &str) -> std::process::ExitCode {
    harness::repeat::<Lines<S>>(name)
}
