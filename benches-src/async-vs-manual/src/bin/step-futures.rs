//! One operation: one request of 256, answered by futures that the loop polls itself: each source's event polls its future, and nobody
//! is woken. Against `manual`, the compiler keeps where a connection stands.

use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use async_vs_manual::fake::{Event, Listener, Network, SOURCES, Stream};
use async_vs_manual::server::{Accept, Arrivals, Exchange, Job, REQUESTS, ROOM, either};
use async_vs_manual::slots::Slots;

pub(crate) fn step_futures(network: &Network, laps: impl Iterator<Item = ()>) {
    let arrivals = Arrivals::default();
    let mut events = Vec::with_capacity(SOURCES);
    let mut futures = Slots::new(|_| Waker::noop().clone());
    let task = |job| either::<_, Streams<'_>, ROOM>(job, &arrivals);
    for () in laps {
        let listener = Listens::new(network.listen(REQUESTS));
        let descriptor = listener.0.descriptor();
        futures.put(descriptor, || task(Job::Accept(listener)));
        // As if it had had an event.
        events.push(Event::readable(descriptor));
        let mut open = 1;
        while open > 0 {
            let mut next = 0;
            while let Some(event) = events.get(next) {
                next += 1;
                let mut descriptor = event.descriptor;
                loop {
                    open -= u32::from(futures.poll(descriptor).is_ready());
                    let Some(stream) = arrivals.next() else { break };
                    // What is new is polled at once.
                    descriptor = stream.descriptor();
                    futures.put(descriptor, || task(Job::Answer(Streams::new(stream))));
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

struct Listens<'n>(Listener<'n>);

struct Streams<'n>(Stream<'n>);

impl<'n> Listens<'n> {
    fn new(listener: Listener<'n>) -> Self {
        listener.register();
        Self(listener)
    }
}

impl<'n> Streams<'n> {
    #[inline]
    fn new(stream: Stream<'n>) -> Self {
        stream.register();
        Self(stream)
    }
}

impl<'n> Accept for Listens<'n> {
    type Accepted = Stream<'n>;

    #[inline]
    fn poll_accept(&self, _: &mut Context<'_>) -> Poll<Stream<'n>> {
        self.0.accept().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Exchange for Streams<'_> {
    #[inline]
    fn poll_read(&self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<usize> {
        self.0.read(buffer).map_or(Poll::Pending, Poll::Ready)
    }

    #[inline]
    fn poll_write(&self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<usize> {
        self.0.write(bytes).map_or(Poll::Pending, Poll::Ready)
    }

    #[inline]
    fn work(&self) {
        self.0.network().work();
    }
}

impl Drop for Listens<'_> {
    fn drop(&mut self) {
        self.0.unregister();
    }
}

impl Drop for Streams<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unregister();
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_futures)
}
