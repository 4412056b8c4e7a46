//! One operation: one request of 256, answered by `nonbox`'s executor and reactor, but the futures are written by hand: where a task
//! stands is kept in fields of its own, and not by the compiler.

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll, ready};

use async_vs_manual::fake::{self, Network};
use async_vs_manual::reactor::{Known, Listener, Reactor, Stream};
use async_vs_manual::server::{Accept, Arrivals, Exchange, REQUESTS, ROOM, end_of_line};
use async_vs_manual::tasks::Tasks;
use async_vs_manual::wakers::Embedded;

pub(crate) fn state_machine(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Known>::new(network), Arrivals::default());
    let mut tasks = Tasks::new(Embedded);
    for () in laps {
        tasks.spawn(|| Task::accepts(reactor.listen(REQUESTS), &arrivals));
        tasks.run(|| arrivals.next(), |stream| Task::answers(reactor.stream(stream)), || reactor.wake());
    }
}

/// Of one type, as `nonbox`'s are, so that it can be stored without a box.
enum Task<'r, 'a> {
    Accepts { listener: Listener<'r, Known>, arrivals: &'a Arrivals<fake::Stream<'r>>, left: u32 },
    Answers(Connection<'r>),
}

/// Where a connection stands.
struct Connection<'r> {
    stream: Stream<'r, Known>,
    line: [u8; ROOM],
    filled: usize,
    /// Where the line ends; 0 while it is still being read.
    end: usize,
    written: usize,
}

impl<'r, 'a> Task<'r, 'a> {
    fn accepts(listener: Listener<'r, Known>, arrivals: &'a Arrivals<fake::Stream<'r>>) -> Self {
        Self::Accepts { listener, arrivals, left: REQUESTS }
    }

    #[inline]
    fn answers(stream: Stream<'r, Known>) -> Self {
        Self::Answers(Connection { stream, line: [0; ROOM], filled: 0, end: 0, written: 0 })
    }
}

impl Future for Task<'_, '_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Self::Accepts { listener, arrivals, left } => {
                while *left > 0 {
                    arrivals.add(ready!(listener.poll_accept(context)));
                    *left -= 1;
                }
                Poll::Ready(())
            }
            Self::Answers(connection) => connection.poll(context),
        }
    }
}

impl Connection<'_> {
    #[inline]
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.end == 0 {
            match ready!(self.stream.poll_read(context, &mut self.line[self.filled..])) {
                0 => return Poll::Ready(()),
                bytes => self.filled += bytes,
            }
            if let Some(end) = end_of_line(&self.line[..self.filled]) {
                self.stream.work();
                self.end = end;
            }
        }
        while self.written < self.end {
            self.written += ready!(self.stream.poll_write(context, &self.line[self.written..self.end]));
        }
        Poll::Ready(())
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(state_machine)
}
