//! One operation: one request of 256, answered by futures that the loop polls itself. Against `step-futures`, nothing is cleared and
//! nothing is checked twice: what the compiler cannot know is promised to it.

#![expect(clippy::manual_async_fn, reason = "an async function would move its arguments once more")]

use std::future::{Future, poll_fn};
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::slice;
use std::task::Poll;

use async_vs_manual::fake::{Event, Listener, Network, SOURCES, Stream, WouldBlock};
use async_vs_manual::server::{Arrivals, REQUESTS, ROOM, end_of_line};

#[path = "step-unsafe/places.rs"]
mod places;

use places::Places;

pub(crate) fn step_unsafe(network: &Network, laps: impl Iterator<Item = ()>) {
    let arrivals = Arrivals::default();
    let mut events = Vec::with_capacity(SOURCES);
    let mut futures = Places::new();
    for () in laps {
        let listener = network.listen(REQUESTS);
        let descriptor = listener.descriptor();
        // SAFETY: a descriptor that is given out is open nowhere else, so that nothing is in its
        // place; a lap ends when all are ready.
        unsafe { futures.put(descriptor, || either(Job::Accept(listener), &arrivals)) };
        // As if it had had an event.
        events.push(Event::readable(descriptor));
        let mut open = 1;
        while open > 0 {
            let mut next = 0;
            while let Some(event) = events.get(next) {
                next += 1;
                let mut descriptor = event.descriptor;
                loop {
                    // SAFETY: a source that is open has a future in its place, and none but those have events: what ends closes its
                    // source, and what is closed waits for nothing. What is new was put there below.
                    open -= u32::from(unsafe { futures.poll(descriptor) }.is_ready());
                    let Some(stream) = arrivals.next() else { break };
                    // What is new is polled at once.
                    descriptor = stream.descriptor();
                    // SAFETY: as for the listener.
                    unsafe { futures.put(descriptor, || either(Job::Answer(stream), &arrivals)) };
                    open += 1;
                }
            }
            if open > 0 {
                network.poll(&mut events);
            }
        }
        events.clear();
    }
}

enum Job<'n> {
    Accept(Listener<'n>),
    Answer(Stream<'n>),
}

/// Accepts all clients, or reads a line into memory that is not cleared and writes it back.
fn either<'n>(job: Job<'n>, arrivals: &Arrivals<Stream<'n>>) -> impl Future<Output = ()> {
    async move {
        match &job {
            Job::Accept(listener) => {
                listener.register();
                for _ in 0..REQUESTS {
                    arrivals.add(poll_fn(|_| ready(listener.accept())).await);
                }
                listener.unregister();
            }
            Job::Answer(stream) => {
                stream.register();
                let mut line = [MaybeUninit::uninit(); ROOM];
                let mut filled = 0;
                let end = loop {
                    // SAFETY: `filled` counts what reads have written, and they write no more than there is room for.
                    let room = unsafe { line.get_unchecked_mut(filled..) };
                    match poll_fn(|_| ready(stream.read_uninit(room))).await {
                        0 => break 0,
                        bytes => filled += bytes,
                    }
                    // SAFETY: as many bytes were written, from the beginning on.
                    let read = unsafe { slice::from_raw_parts(line.as_ptr().cast(), filled) };
                    if let Some(end) = end_of_line(read) {
                        stream.network().work();
                        break end;
                    }
                };
                let mut written = 0;
                while written < end {
                    // SAFETY: the end of the line is within what was read, and no more is written than is given.
                    let rest = unsafe { slice::from_raw_parts(line.as_ptr().cast::<u8>().add(written), end - written) };
                    written += poll_fn(|_| ready(stream.write(rest))).await;
                }
                stream.unregister();
            }
        }
    }
}

#[inline]
fn ready<T>(result: Result<T, WouldBlock>) -> Poll<T> {
    result.map_or(Poll::Pending, Poll::Ready)
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_unsafe)
}
