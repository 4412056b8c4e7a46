//! The server as futures. They say what is done for a connection from its beginning to its end, and not how waiting works:
//! that is the affair of whoever implements [`Accept`] and [`Exchange`].
//!
//! Each is an async block in a plain function. An async function would move its arguments once more, when it is first polled: right
//! after they were written, which a processor has to wait for.

#![expect(clippy::manual_async_fn, reason = "an async function would move its arguments once more")]

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How many requests a lap is, each of a client of its own.
pub const REQUESTS: u32 = 256;

/// The room for a line that all but the large servers have.
pub const ROOM: usize = 128;

/// The room that the large servers have.
pub const LARGE: usize = 16_384;

/// A listener for which a task can wait.
pub trait Accept {
    /// What is accepted: nobody can wait for it yet.
    type Accepted;

    /// The next client, or a wake-up of this task when it may be there.
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<Self::Accepted>;
}

/// A stream for which a task can wait.
pub trait Exchange {
    /// Reads what is there, or wakes this task when something may be.
    fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<usize>;

    /// Writes what is taken, or wakes this task when something may be.
    fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<usize>;

    /// The work that each request asks for.
    fn work(&self);
}

/// What was accepted, on its way to whoever makes tasks of it.
pub struct Arrivals<S> {
    accepted: Box<[Cell<Option<S>>; REQUESTS as usize]>,
    count: Cell<usize>,
}

impl<S> Default for Arrivals<S> {
    fn default() -> Self {
        Self { accepted: Box::new([const { Cell::new(None) }; _]), count: Cell::new(0) }
    }
}

impl<S> Arrivals<S> {
    /// One of them, if there are any.
    #[inline]
    pub fn next(&self) -> Option<S> {
        let last = self.count.get().checked_sub(1)?;
        self.count.set(last);
        self.accepted[last % REQUESTS as usize].take()
    }

    /// One more, of as many as there are requests.
    #[inline]
    pub fn add(&self, accepted: S) {
        let count = self.count.get();
        self.accepted[count].set(Some(accepted));
        self.count.set(count + 1);
    }
}

/// Accepts all clients.
macro_rules! accept {
    ($listener:ident, $arrivals:ident) => {
        for _ in 0..REQUESTS {
            let accepted = Accepting($listener).await;
            $arrivals.add(accepted);
        }
    };
}

/// Reads a line and writes it back.
macro_rules! answer {
    ($stream:ident, $room:expr) => {
        let mut line = [0; $room];
        let mut filled = 0;
        let end = loop {
            match (Reading { stream: $stream, room: &mut line[filled..] }).await {
                0 => break 0,
                bytes => filled += bytes,
            }
            if let Some(end) = end_of_line(&line[..filled]) {
                $stream.work();
                break end;
            }
        };
        let mut written = 0;
        while written < end {
            written += Writing { stream: $stream, bytes: &line[written..end] }.await;
        }
    };
}

/// Accepts all clients.
pub fn accept<L: Accept>(listener: L, arrivals: &Arrivals<L::Accepted>) -> impl Future<Output = ()> {
    async move {
        let listener = &listener;
        accept!(listener, arrivals);
    }
}

/// Reads a line and writes it back.
pub fn answer<S: Exchange, const BYTES: usize>(stream: S) -> impl Future<Output = ()> {
    async move {
        let stream = &stream;
        answer!(stream, BYTES);
    }
}

struct Accepting<'a, L>(&'a L);

struct Reading<'a, S> {
    stream: &'a S,
    room: &'a mut [u8],
}

struct Writing<'a, S> {
    stream: &'a S,
    bytes: &'a [u8],
}

impl<L: Accept> Future for Accepting<'_, L> {
    type Output = L::Accepted;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<L::Accepted> {
        self.0.poll_accept(context)
    }
}

impl<S: Exchange> Future for Reading<'_, S> {
    type Output = usize;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<usize> {
        self.stream.poll_read(context, self.room)
    }
}

impl<S: Exchange> Future for Writing<'_, S> {
    type Output = usize;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<usize> {
        self.stream.poll_write(context, self.bytes)
    }
}

/// Where the first line ends, with its end.
#[inline]
pub fn end_of_line(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes).map(|at| at + 1)
}

/// What a future is to do whose type is the only one there is.
pub enum Job<L, S> {
    /// Accept all clients.
    Accept(L),
    /// Answer one of them.
    Answer(S),
}

/// Both in one future type, so that it can be stored without a box: it is told by an argument what to do. It has the bodies of the two
/// and does not await them, or it would be a state machine around two others.
pub fn either<L: Accept, S: Exchange, const BYTES: usize>(
    job: Job<L, S>,
    arrivals: &Arrivals<L::Accepted>,
) -> impl Future<Output = ()> {
    async move {
        match &job {
            Job::Accept(listener) => {
                accept!(listener, arrivals);
            }
            Job::Answer(stream) => {
                answer!(stream, BYTES);
            }
        }
    }
}
