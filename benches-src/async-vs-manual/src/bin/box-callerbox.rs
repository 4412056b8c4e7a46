//! One operation: one request of 256, answered by futures of one type in boxes that the caller makes and the executor boxes once more.

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;

use async_vs_manual::fake::Network;
use async_vs_manual::reactor::{Reactor, Stream, Woken};
use async_vs_manual::server::{Arrivals, Job, REQUESTS, ROOM, either};
use async_vs_manual::tasks::Boxes;
use async_vs_manual::wakers::Embedded;

type Boxed<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

pub(crate) fn box_callerbox(network: &Network, laps: impl Iterator<Item = ()>) {
    let (reactor, arrivals) = (Reactor::<Woken>::new(network), Arrivals::default());
    let mut tasks = Boxes::new(Embedded);
    let task = |job| -> Boxed<'_> { Box::pin(either::<_, Stream<'_, Woken>, ROOM>(job, &arrivals)) };
    for () in laps {
        tasks.spawn(task(Job::Accept(reactor.listen(REQUESTS))));
        tasks.run(|| arrivals.next(), |stream| task(Job::Answer(reactor.stream(stream))), || reactor.wake());
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(box_callerbox)
}
