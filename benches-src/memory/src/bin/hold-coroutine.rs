//! One operation: one stackful coroutine held, which has touched part of its stack and is suspended.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use memory::{Climb, Counting, Held, by_touch, fits, reserve_mappings, touch};
use serde::Serialize;

fn hold_coroutine(parameters: Parameters, climb: Climb) -> Result<()> {
    let stack_bytes = parameters.stack_bytes as usize;
    fits(parameters.touch_bytes, stack_bytes)?;
    // A stack, and the guard page below it.
    reserve_mappings(2 * parameters.most())?;
    let body = by_touch!(parameters.touch_bytes, hold);
    let mut coroutines = Vec::with_capacity(parameters.most());
    climb.add_units(|held, next| {
        for _ in held..next {
            let stack = DefaultStack::new(stack_bytes)?;
            let mut coroutine = Coroutine::with_stack(stack, move |yielder, ()| body(yielder));
            coroutine.resume(());
            coroutines.push(coroutine);
        }
        Ok(())
    })
}

fn hold<const TOUCH_BYTES: usize>(yielder: &Yielder<(), ()>) {
    let mut own = [0; TOUCH_BYTES];
    touch(&mut own);
    yielder.suspend(());
    touch(&mut own);
}

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

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_coroutine)
}
