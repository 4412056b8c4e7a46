//! One operation: one future boxed, polled once by its creator and dropped: the allocation under every task, without any runtime.

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use anyhow::Result;
use creation::Batch;
use harness::{Clock, Placement};

type Boxed = Pin<Box<dyn Future<Output = u64> + Send>>;

fn box_future(batch: Batch, _: Placement, clock: Clock) -> Result<u64> {
    let mut ended = 0;
    clock.time(batch.batch, |laps| {
        let (mut batches, mut futures) = (batch.laps(laps), batch.room::<Boxed>());
        let mut context = Context::from_waker(Waker::noop());
        while batches.go_on() {
            batches.create(&mut futures, || Ok(Box::pin(async move { batch.until.first_instruction() })))?;
            for mut future in futures.drain(..) {
                if let Poll::Ready(first_instruction_ns) = future.as_mut().poll(&mut context) {
                    batches.ended(first_instruction_ns);
                }
            }
        }
        ended += batches.count();
        Ok(())
    })?;
    Ok(ended)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), box_future)
}
