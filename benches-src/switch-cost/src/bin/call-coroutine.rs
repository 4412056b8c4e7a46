//! One operation: one call of the same function in a stackful coroutine: two switches.

use std::process::ExitCode;

use anyhow::{Result, bail};
use corosensei::{Coroutine, CoroutineResult};
use harness::{Laps, Nothing, Placement, Repeat};
use switch_cost::layout;

struct CallCoroutine {
    server: Coroutine<u64, u64, ()>,
    calls: u64,
}

impl Repeat for CallCoroutine {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        let server = Coroutine::new(|yielder, mut calls| {
            loop {
                calls = yielder.suspend(layout(calls));
            }
        });
        Ok(Self { server, calls: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            match self.server.resume(self.calls) {
                CoroutineResult::Yield(calls) => self.calls = calls,
                CoroutineResult::Return(()) => bail!("the server left"),
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        // The function adds one to what it is called with.
        Ok(self.calls)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CallCoroutine>(harness::name!())
}
