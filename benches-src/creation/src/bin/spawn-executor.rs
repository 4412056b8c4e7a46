//! One operation: one task of our own executor spawned by another; it ends the first time it is polled, and the last one says so.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::{Poll, Waker};

use anyhow::Result;
use creation::Batch;
use executor::Executor;
use harness::{Laps, Placement, Repeat};

struct SpawnExecutor {
    executor: Rc<Executor>,
    batch: Batch,
    ended: u64,
}

/// What the tasks of a batch leave behind.
#[derive(Default)]
struct Ended {
    first_instructions_ns: RefCell<Vec<u64>>,
    creator: Cell<Option<Waker>>,
}

impl Repeat for SpawnExecutor {
    type Parameters = Batch;

    fn set_up(batch: &Batch, _: Placement) -> Result<Self> {
        Ok(Self { executor: Rc::default(), batch: *batch, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let batch = self.batch;
        let (mut batches, mut created) = (batch.laps(laps), batch.room());
        let ended = Rc::new(Ended { first_instructions_ns: RefCell::new(batch.room()), ..Ended::default() });
        self.ended += self.executor.block_on(async {
            while batches.go_on() {
                batches.create(&mut created, || {
                    self.executor.spawn(unit(batch, ended.clone()));
                    Ok(())
                })?;
                created.clear();
                ended.all(batch).await;
                ended.first_instructions_ns.borrow_mut().drain(..).for_each(|ns| batches.ended(ns));
            }
            anyhow::Ok(batches.count())
        })?;
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

async fn unit(batch: Batch, ended: Rc<Ended>) {
    let first_instruction_ns = batch.until.first_instruction();
    let mut all = ended.first_instructions_ns.borrow_mut();
    all.push(first_instruction_ns);
    if all.len() as u64 == batch.batch
        && let Some(creator) = ended.creator.take()
    {
        creator.wake();
    }
}

impl Ended {
    /// Waits for the last task of the batch.
    async fn all(&self, batch: Batch) {
        poll_fn(|context| {
            if self.first_instructions_ns.borrow().len() as u64 == batch.batch {
                return Poll::Ready(());
            }
            self.creator.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

fn main() -> ExitCode {
    harness::repeat::<SpawnExecutor>(harness::name!())
}
