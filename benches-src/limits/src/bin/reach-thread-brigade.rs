//! One operation: one thread that waits for a byte from the one before it, over a socket pair, alive at once with all before it.

use std::io::{self, Read, Write};
use std::mem::replace;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::Result;
use limits::{Crowd, Needs, Stack, here, settled};

struct Brigade {
    stack_bytes: usize,
    first: UnixStream,
    last: UnixStream,
    passed: Arc<AtomicU64>,
}

impl Crowd for Brigade {
    type Parameters = Stack;
    const NEEDS: Needs = Needs::THREAD_BRIGADE;

    fn start(parameters: &Stack) -> Result<Self> {
        let (first, last) = UnixStream::pair()?;
        Ok(Self { stack_bytes: parameters.stack_bytes as usize, first, last, passed: Arc::default() })
    }

    fn add(&mut self) -> io::Result<()> {
        let (mut to, next) = UnixStream::pair()?;
        let mut from = self.last.try_clone()?;
        let passed = self.passed.clone();
        thread::Builder::new().stack_size(self.stack_bytes).spawn(move || {
            here();
            let mut token = [0];
            while from.read_exact(&mut token).is_ok() {
                passed.fetch_add(1, Ordering::Relaxed);
                if to.write_all(&token).is_err() {
                    break;
                }
            }
        })?;
        drop(replace(&mut self.last, next));
        Ok(())
    }

    fn alive(&mut self, added: u64) -> Result<u64> {
        // Whoever is alive hands the byte on, and so it comes out at the other end.
        self.first.write_all(&[1])?;
        self.last.read_exact(&mut [0])?;
        Ok(settled(added).min(self.passed.load(Ordering::Relaxed)))
    }
}

fn main() -> ExitCode {
    limits::reach::<Brigade>(harness::name!())
}
