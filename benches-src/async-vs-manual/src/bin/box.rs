//! One operation: one request of 256, answered by futures of any type, each in a box that the executor makes, with wakers made once for each place.

use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Reactor, Woken};
use async_vs_manual::server::{Arrivals, REQUESTS, ROOM, accept, answer};
use async_vs_manual::tasks::Boxes;
use async_vs_manual::wakers::Embedded;

pub(crate) fn boxed(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Woken>::new(network), Arrivals::default());
    let mut tasks = Boxes::new(Embedded);
    for () in laps {
        tasks.spawn(accept(reactor.listen(REQUESTS), &arrivals));
        tasks.run(|| arrivals.next(), |stream| answer::<_, ROOM>(reactor.stream(stream)), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(boxed)
}
