//! One operation: one request of 256, answered by futures in places of an executor's own. Against `step-futures`, an event does not
//! poll a future any more: it queues a task, by the number that was kept when the task began to wait.

use std::cell::Cell;
use std::process::ExitCode;
use std::ptr::without_provenance;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

use async_vs_manual::fake::{Network, SOURCES};
use async_vs_manual::reactor::{Reactor, Stream, Waiter};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::slots::Slots;

/// The number of the task that waits, or waited last.
#[derive(Default)]
struct Number(Cell<u32>);

impl Waiter for Number {
    #[inline]
    fn waits(&self, context: &Context<'_>) {
        self.0.set(context.waker().data().addr() as u32);
    }

    #[inline]
    fn wake(&self) {}
}

/// A number in the place of a waker: it does nothing when woken.
fn number(index: u32) -> Waker {
    const NOTHING: RawWakerVTable = RawWakerVTable::new(|data| RawWaker::new(data, &NOTHING), |_| {}, |_| {}, |_| {});
    // SAFETY: none of the functions of its table does anything with the pointer but to hand it on.
    unsafe { Waker::from_raw(RawWaker::new(without_provenance(index as usize), &NOTHING)) }
}

pub(crate) fn step_queue(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Number>::new(network), Arrivals::default());
    let mut futures = Slots::new(number);
    let mut free: Vec<u32> = (0..SOURCES as u32).rev().collect();
    let mut queue = Vec::with_capacity(SOURCES);
    let task = |job| either::<_, Stream<'_, Number>, ROOM>(job, &arrivals);
    let spawn = |futures: &mut Slots<_>, free: &mut Vec<u32>, job| {
        let index = free.pop().expect("fewer tasks than there are places");
        futures.put(index, || task(job));
        index
    };
    for () in laps {
        queue.push(spawn(&mut futures, &mut free, Job::Accept(reactor.listen(REQUESTS))));
        while free.len() < SOURCES {
            let mut next = 0;
            while next < queue.len() {
                let mut index = queue[next];
                next += 1;
                loop {
                    if futures.poll(index).is_ready() {
                        free.push(index);
                    }
                    let Some(stream) = arrivals.next() else { break };
                    index = spawn(&mut futures, &mut free, Job::Answer(reactor.stream(stream)));
                }
            }
            queue.clear();
            if free.len() < SOURCES {
                reactor.each(|task| queue.push(task.0.get()));
            }
        }
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_queue)
}
