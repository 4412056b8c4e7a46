//! One operation: one request of 256, answered by futures of any type, each in one piece of memory with all that is kept of its task, as
//! in runtimes. Its waker points there, and is counted atomically.

use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Reactor, Woken};
use async_vs_manual::server::{Arrivals, REQUESTS, ROOM, accept, answer};

#[path = "arc-task/tasks.rs"]
mod tasks;

use tasks::run;

pub(crate) fn arc_task(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Woken>::new(network), Arrivals::default());
    for () in laps {
        let first = accept(reactor.listen(REQUESTS), &arrivals);
        run(first, || arrivals.next(), |stream| answer::<_, ROOM>(reactor.stream(stream)), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(arc_task)
}

#[cfg(test)]
#[path = "arc-task/tests.rs"]
mod tests;
