//! One operation: one task of our own executor spawned by another; it ends the first time it is polled, and the last one says so.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::{Poll, Waker};

use anyhow::Result;
use creation::Batch;
use executor::Executor;
use harness::{Clock, Placement};

fn spawn_executor(batch: Batch, _: Placement, clock: Clock) -> Result<u64> {
    let executor = Rc::<Executor>::default();
    let mut all_ended = 0;
    clock.time(batch.batch, |laps| {
        let (mut batches, mut created) = (batch.laps(laps), batch.room());
        let ended = Rc::new(Ended { first_instructions_ns: RefCell::new(batch.room()), ..Ended::default() });
        all_ended += executor.block_on(async {
            while batches.go_on() {
                batches.create(&mut created, || {
                    executor.spawn(unit(batch, ended.clone()));
                    Ok(())
                })?;
                created.clear();
                ended.all(batch).await;
                ended.first_instructions_ns.borrow_mut().drain(..).for_each(|ns| batches.ended(ns));
            }
            anyhow::Ok(batches.count())
        })?;
        Ok(())
    })?;
    Ok(all_ended)
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

/// What the tasks of a batch leave behind.
#[derive(Default)]
struct Ended {
    first_instructions_ns: RefCell<Vec<u64>>,
    creator: Cell<Option<Waker>>,
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
    harness::repeat(harness::name!(), spawn_executor)
}
