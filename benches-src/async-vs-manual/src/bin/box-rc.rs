//! One operation: one request of 256, answered by boxed futures, each with a waker of its own that is counted without atomics, on a promise.

use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Reactor, Woken};
use async_vs_manual::server::{Arrivals, REQUESTS, ROOM, accept, answer};
use async_vs_manual::tasks::Boxes;
use async_vs_manual::wakers::EachRc;

pub(crate) fn box_rc(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Woken>::new(network), Arrivals::default());
    // SAFETY: what this server waits for keeps wakers in its reactor, which stays on this thread, and nowhere else.
    let kind = unsafe { EachRc::promised() };
    let mut tasks = Boxes::new(kind);
    for () in laps {
        tasks.spawn(accept(reactor.listen(REQUESTS), &arrivals));
        tasks.run(|| arrivals.next(), |stream| answer::<_, ROOM>(reactor.stream(stream)), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(box_rc)
}
