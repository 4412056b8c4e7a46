//! One operation: one stackful coroutine held, which has touched part of its stack and is suspended.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use memory::{Climb, Held, Units, by_touch, fits, reserve_mappings, touch};
use serde::Serialize;

#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    /// Coroutines held at the last of eight evenly spaced counts
    #[arg(long, default_value_t = 8000, value_parser = clap::value_parser!(u64).range(8..=10_000_000))]
    most: u64,
    /// The stack that each is given
    #[arg(long, default_value_t = 64 << 10, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    stack_bytes: u64,
    /// What each writes to on its own stack, a byte in each page
    #[arg(long, default_value_t = 0, value_parser = memory::touch_bytes)]
    touch_bytes: usize,
}

impl Held for Parameters {
    fn most(&self) -> usize {
        self.most as usize
    }

    fn touch_bytes(&self) -> usize {
        self.touch_bytes
    }
}

struct HoldCoroutine {
    stack_bytes: usize,
    body: fn(&Yielder<(), ()>),
    coroutines: Vec<Coroutine<(), (), ()>>,
}

impl Units for HoldCoroutine {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters) -> Result<Self> {
        let stack_bytes = parameters.stack_bytes as usize;
        fits(parameters.touch_bytes, stack_bytes)?;
        // A stack, and the guard page below it.
        reserve_mappings(2 * parameters.most())?;
        let coroutines = Vec::with_capacity(parameters.most());
        Ok(Self { stack_bytes, body: by_touch!(parameters.touch_bytes, hold), coroutines })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let (stack, body) = (DefaultStack::new(self.stack_bytes)?, self.body);
            let mut coroutine = Coroutine::with_stack(stack, move |yielder, ()| body(yielder));
            coroutine.resume(());
            self.coroutines.push(coroutine);
        }
        Ok(())
    }
}

fn hold<const TOUCH_BYTES: usize>(yielder: &Yielder<(), ()>) {
    let mut own = [0; TOUCH_BYTES];
    touch(&mut own);
    yielder.suspend(());
    touch(&mut own);
}

fn main() -> ExitCode {
    harness::once::<Climb<HoldCoroutine>>(harness::name!())
}
