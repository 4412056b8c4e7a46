//! One operation: one future boxed, polled once by its creator and dropped: the allocation under every task, without any runtime.

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};

use anyhow::Result;
use creation::Batch;
use harness::{Laps, Placement, Repeat};

struct BoxFuture {
    batch: Batch,
    ended: u64,
}

type Boxed = Pin<Box<dyn Future<Output = u64> + Send>>;

impl Repeat for BoxFuture {
    type Parameters = Batch;

    fn set_up(batch: &Batch, _: Placement) -> Result<Self> {
        Ok(Self { batch: *batch, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let batch = self.batch;
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
        self.ended += batches.count();
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

fn main() -> ExitCode {
    harness::repeat::<BoxFuture>(harness::name!())
}
