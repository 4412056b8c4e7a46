//! One operation: one request of 256, answered by futures in boxes of their own size, each with 16 KiB of room for its line.

use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Reactor, Woken};
use async_vs_manual::server::{Arrivals, LARGE, REQUESTS, accept, answer};
use async_vs_manual::tasks::Boxes;
use async_vs_manual::wakers::Embedded;

pub(crate) fn large_box(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Woken>::new(network), Arrivals::default());
    let mut tasks = Boxes::new(Embedded);
    for () in laps {
        tasks.spawn(accept(reactor.listen(REQUESTS), &arrivals));
        tasks.run(|| arrivals.next(), |stream| answer::<_, LARGE>(reactor.stream(stream)), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(large_box)
}
