//! One operation: one request of 256, answered by futures that the loop polls itself, over sources that keep what they are ready for.
//! Against `step-futures`, what is known to be impossible is not tried.

use std::process::ExitCode;
use std::task::{Context, Waker};

use async_vs_manual::Serve;
use async_vs_manual::fake::{Network, SOURCES};
use async_vs_manual::reactor::{Listener, Reactor, Waiter};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::slots::Slots;

pub(crate) struct StepReadiness;

/// Nobody is known to wait: whoever has an event is polled.
#[derive(Default)]
struct Anybody;

impl Waiter for Anybody {
    #[inline]
    fn waits(&self, _: &Context<'_>) {}

    #[inline]
    fn wake(&self) {}
}

impl Serve for StepReadiness {
    fn serve(network: &Network, laps: impl Iterator<Item = ()>) {
        let (reactor, arrivals) = (Reactor::<Anybody>::new(network), Arrivals::default());
        let mut events = Vec::with_capacity(SOURCES);
        let mut futures = Slots::new(|_| Waker::noop().clone());
        let task = |job| either::<Listener<'_, Anybody>, ROOM>(job, &arrivals);
        for () in laps {
            let listener = reactor.listen(REQUESTS);
            let descriptor = listener.descriptor();
            futures.put(descriptor, || task(Job::Accept(listener)));
            // What is new is polled once, as if it had had an event.
            events.push(descriptor);
            let mut open = 1;
            while open > 0 {
                let mut next = 0;
                while let Some(descriptor) = events.get(next) {
                    next += 1;
                    open -= u32::from(futures.poll(*descriptor).is_ready());
                    while let Some(stream) = arrivals.next() {
                        let descriptor = stream.descriptor();
                        futures.put(descriptor, || task(Job::Answer(stream)));
                        events.push(descriptor);
                        open += 1;
                    }
                }
                if open > 0 {
                    events.clear();
                    reactor.each(|descriptor, _| events.push(descriptor));
                }
            }
            events.clear();
        }
    }
}

fn main() -> ExitCode {
    async_vs_manual::main::<StepReadiness>(harness::name!())
}
