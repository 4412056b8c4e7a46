//! One operation: one tokio task held that sleeps for an hour: it has been polled once, and its timer is set.

use std::process::ExitCode;

use anyhow::Result;
use memory::{Climb, Counting, HOUR, Sleepers, all_started, started};
use tokio::runtime::Builder;
use tokio::time::sleep;

fn hold_tokio_asleep(_: Sleepers, climb: Climb) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    climb.add_futures(|held, next| {
        let mut future_bytes = 0;
        for _ in held..next {
            let future = nap();
            future_bytes = size_of_val(&future);
            runtime.spawn(future);
        }
        runtime.block_on(all_started(next));
        Ok(future_bytes)
    })
    // The runtime is dropped with its tasks, and nobody sleeps to the end.
}

async fn nap() {
    started();
    sleep(HOUR).await;
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_tokio_asleep)
}
