//! One operation: one thread of the standard library, parked, and alive at once with all before it.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use limits::{Climb, Needs, Stack, here, settled};

fn reach_thread(Stack { stack_bytes }: Stack, climb: Climb) -> Result<()> {
    let top = climb.add_units(|| {
        let thread = thread::Builder::new().stack_size(stack_bytes as usize);
        thread.spawn(|| {
            here();
            loop {
                thread::park();
            }
        })?;
        Ok(())
    })?;
    let alive = settled(top.added);
    top.report(alive)
}

fn main() -> ExitCode {
    limits::reach(harness::name!(), |_| Needs::THREAD, reach_thread)
}
