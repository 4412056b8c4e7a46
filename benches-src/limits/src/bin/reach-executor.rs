//! One operation: one task of our own executor that waits for ever, alive at once with all before it.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::io;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::Poll;

use anyhow::Result;
use executor::Executor;
use limits::{Crowd, Needs, Nothing};

struct Tasks {
    executor: Executor,
    alive: Rc<Cell<u64>>,
}

impl Crowd for Tasks {
    type Parameters = Nothing;
    const NEEDS: Needs = Needs::TASK;
    const STRIDE: u64 = 1 << 16;

    fn start(_: &Nothing) -> Result<Self> {
        Ok(Self { executor: Executor::new(), alive: Rc::default() })
    }

    fn add(&mut self) -> io::Result<()> {
        let alive = self.alive.clone();
        self.executor.spawn(async move {
            alive.update(|alive| alive + 1);
            pending::<()>().await;
        });
        Ok(())
    }

    fn alive(&mut self, added: u64) -> Result<u64> {
        let alive = &self.alive;
        self.executor.block_on(poll_fn(|context| {
            if alive.get() == added {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        Ok(alive.get())
    }
}

fn main() -> ExitCode {
    limits::reach::<Tasks>(harness::name!())
}
