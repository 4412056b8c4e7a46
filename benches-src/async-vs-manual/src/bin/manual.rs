//! One operation: one request of 256, answered by an event loop that is written by hand.

use std::process::ExitCode;

use async_vs_manual::fake::{Event, Network, SOURCES, Stream, WouldBlock};
use async_vs_manual::server::{REQUESTS, ROOM, end_of_line};

pub(crate) fn manual(network: &Network, laps: impl Iterator<Item = ()>) {
    let mut events = Vec::with_capacity(SOURCES);
    // A connection is found by its descriptor.
    let mut connections: Box<[_; SOURCES]> = Box::new(std::array::from_fn(|_| Connection::unused()));
    for () in laps {
        let listener = network.listen(REQUESTS);
        listener.register();
        let (mut to_accept, mut open) = (REQUESTS, 0);
        // As if it had had an event.
        events.push(Event::readable(listener.descriptor()));
        loop {
            let mut next = 0;
            while let Some(event) = events.get(next) {
                next += 1;
                let descriptor = event.descriptor;
                if descriptor != listener.descriptor() {
                    if connections[descriptor as usize % SOURCES].go_on().is_ok() {
                        open -= 1;
                    }
                    continue;
                }
                while to_accept > 0
                    && let Ok(stream) = listener.accept()
                {
                    stream.register();
                    to_accept -= 1;
                    let connection = &mut connections[stream.descriptor() as usize % SOURCES];
                    connection.begin(stream);
                    // What is new is worth a try.
                    open += u32::from(connection.go_on().is_err());
                }
            }
            if to_accept + open == 0 {
                break;
            }
            network.poll(&mut events);
        }
        events.clear();
        listener.unregister();
    }
}

/// Where a connection stands.
pub(crate) struct Connection<'n> {
    stream: Option<Stream<'n>>,
    line: [u8; ROOM],
    filled: usize,
    /// Where the line ends; 0 while it is still being read.
    end: usize,
    written: usize,
}

impl<'n> Connection<'n> {
    pub(crate) fn unused() -> Self {
        Self { stream: None, line: [0; ROOM], filled: 0, end: 0, written: 0 }
    }

    pub(crate) fn begin(&mut self, stream: Stream<'n>) {
        self.stream = Some(stream);
        (self.filled, self.end, self.written) = (0, 0, 0);
    }

    /// Does what can be done without waiting; at the end it closes the stream.
    #[inline(always)]
    pub(crate) fn go_on(&mut self) -> Result<(), WouldBlock> {
        let Some(stream) = &self.stream else { return Err(WouldBlock) };
        while self.end == 0 {
            match stream.read(&mut self.line[self.filled..])? {
                0 => break,
                bytes => self.filled += bytes,
            }
            if let Some(end) = end_of_line(&self.line[..self.filled]) {
                stream.network().work();
                self.end = end;
            }
        }
        while self.written < self.end {
            self.written += stream.write(&self.line[self.written..self.end])?;
        }
        stream.unregister();
        self.stream = None;
        Ok(())
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(manual)
}
