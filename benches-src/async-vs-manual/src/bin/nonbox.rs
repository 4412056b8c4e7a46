//! One operation: one request of 256, answered by futures of one type, stored by value, with a reactor that recognises their executor.

use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Known, Reactor, Stream};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::tasks::Tasks;
use async_vs_manual::wakers::Embedded;

pub(crate) fn nonbox(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Known>::new(network), Arrivals::default());
    let mut tasks = Tasks::new(Embedded);
    let task = |job| either::<_, Stream<'_, Known>, ROOM>(job, &arrivals);
    for () in laps {
        tasks.spawn(|| task(Job::Accept(reactor.listen(REQUESTS))));
        tasks.run(|| arrivals.next(), |stream| task(Job::Answer(reactor.stream(stream))), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(nonbox)
}
