//! One operation: one request of 256, answered as by `nonbox`, but with what the original's nonbox has: sources that keep what they are
//! ready for, and a reactor that knows a task by its waker alone.

use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Reactor, Remembering, Stream, Woken};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::tasks::Tasks;
use async_vs_manual::wakers::Embedded;

pub(crate) fn step_original(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Remembering<Woken>>::new(network), Arrivals::default());
    let mut tasks = Tasks::new(Embedded);
    let task = |job| either::<_, Stream<'_, Remembering<Woken>>, ROOM>(job, &arrivals);
    for () in laps {
        tasks.spawn(|| task(Job::Accept(reactor.listen(REQUESTS))));
        tasks.run(|| arrivals.next(), |stream| task(Job::Answer(reactor.stream(stream))), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_original)
}
