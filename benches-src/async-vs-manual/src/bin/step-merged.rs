//! One operation: one request of 256, as in `step-futures`, but each future has a waker that any
//! thread may use, and that may outlive everything. An event still polls its future: reactor and
//! executor are merged, and no waker is used.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use async_vs_manual::fake::{Event, Network, SOURCES};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::slots::Slots;

#[path = "step-futures/sources.rs"]
mod sources;

use sources::{Listens, Streams};

/// What was woken by others than the reactor.
#[derive(Default)]
struct Woken {
    any: AtomicBool,
    descriptors: Mutex<Vec<u32>>,
}

struct Own(u32, Arc<Woken>);

impl Wake for Own {
    fn wake(self: Arc<Self>) {
        let Self(descriptor, woken) = &*self;
        woken.descriptors.lock().unwrap_or_else(PoisonError::into_inner).push(*descriptor);
        woken.any.store(true, Ordering::Release);
    }
}

impl Woken {
    /// Adds them to events. A future that has ended meanwhile is not polled.
    #[inline]
    fn join(&self, events: &mut Vec<Event>) {
        if self.any.load(Ordering::Acquire) {
            self.any.store(false, Ordering::Relaxed);
            let woken = std::mem::take(&mut *self.descriptors.lock().unwrap_or_else(PoisonError::into_inner));
            events.extend(woken.into_iter().map(Event::readable));
        }
    }
}

pub(crate) fn step_merged(network: &Network, laps: impl Iterator<Item = ()>) {
    let (arrivals, woken) = (Arrivals::default(), Arc::<Woken>::default());
    let mut events = Vec::with_capacity(SOURCES);
    let mut futures = Slots::new(|descriptor| Waker::from(Arc::new(Own(descriptor, woken.clone()))));
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
                woken.join(&mut events);
            }
        }
        events.clear();
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_merged)
}
