//! One operation: one thread of the standard library, parked, and alive at once with all before it.

use std::io;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use limits::{Crowd, Needs, Stack, here, settled};

struct Threads {
    stack_bytes: usize,
}

impl Crowd for Threads {
    type Parameters = Stack;
    const NEEDS: Needs = Needs::THREAD;

    fn start(parameters: &Stack) -> Result<Self> {
        Ok(Self { stack_bytes: parameters.stack_bytes as usize })
    }

    fn add(&mut self) -> io::Result<()> {
        let thread = thread::Builder::new().stack_size(self.stack_bytes);
        thread.spawn(|| {
            here();
            loop {
                thread::park();
            }
        })?;
        Ok(())
    }

    fn alive(&mut self, added: u64) -> Result<u64> {
        Ok(settled(added))
    }
}

fn main() -> ExitCode {
    limits::reach::<Threads>(harness::name!())
}
