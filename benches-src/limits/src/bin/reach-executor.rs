//! One operation: one task of our own executor that waits for ever, alive at once with all before it.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::process::ExitCode;
use std::rc::Rc;
use std::task::Poll;

use anyhow::Result;
use executor::Executor;
use limits::{Climb, Needs, Nothing};

fn reach_executor(_: Nothing, climb: Climb) -> Result<()> {
    let executor = Executor::new();
    let alive = Rc::<Cell<u64>>::default();
    let top = climb.in_strides_of(1 << 16).add_units(|| {
        let alive = alive.clone();
        executor.spawn(async move {
            alive.update(|alive| alive + 1);
            pending::<()>().await;
        });
        Ok(())
    })?;
    executor.block_on(poll_fn(|context| {
        if alive.get() == top.added {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    top.report(alive.get())
}

fn main() -> ExitCode {
    limits::reach(harness::name!(), |_| Needs::TASK, reach_executor)
}
