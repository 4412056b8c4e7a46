//! One operation: one request of 256, answered by futures that the loop polls itself: each source's event polls its future, and nobody
//! is woken. Against `manual`, the compiler keeps where a connection stands.

use std::process::ExitCode;
use std::task::Waker;

use async_vs_manual::fake::{Event, Network, SOURCES};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::slots::Slots;

#[path = "step-futures/sources.rs"]
mod sources;

use sources::{Listens, Streams};

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

fn main() -> ExitCode {
    async_vs_manual::main!(step_futures)
}
