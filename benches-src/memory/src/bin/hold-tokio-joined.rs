//! One operation: one sleep of an hour held among many that a single tokio task awaits together: it has been polled once, and its timer is set.

use std::future::poll_fn;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::Poll;

use anyhow::Result;
use memory::{Climb, Counting, HOUR, Sleepers, all_started, started};
use tokio::runtime::Builder;
use tokio::time::{Sleep, sleep};

fn hold_tokio_joined(_: Sleepers, climb: Climb) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    climb.add_futures(|held, next| {
        let _entered = runtime.enter();
        // All sleeps of a step belong to one task: there are eight tasks in the end.
        let mut sleeps = Vec::with_capacity(next - held);
        sleeps.extend((held..next).map(|_| Box::pin(sleep(HOUR))));
        runtime.spawn(join(sleeps));
        runtime.block_on(all_started(next));
        Ok(size_of::<Sleep>())
    })
}

/// Ends with the last of them. Each time that one of them wakes the task, all that are left are polled: nobody notes which it was.
async fn join(mut sleeps: Vec<Pin<Box<Sleep>>>) {
    let mut before_the_first_poll = true;
    poll_fn(move |context| {
        sleeps.retain_mut(|sleep| {
            let pending = sleep.as_mut().poll(context).is_pending();
            if before_the_first_poll {
                started();
            }
            pending
        });
        before_the_first_poll = false;
        if sleeps.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_tokio_joined)
}
