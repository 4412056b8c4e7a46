//! One operation: one thread that waits for a byte from the one before it, over a socket pair, alive at once with all before it.

use std::io::{Read, Write};
use std::mem::replace;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::Result;
use limits::{Climb, Needs, Stack, here, settled};

fn reach_thread_brigade(Stack { stack_bytes }: Stack, climb: Climb) -> Result<()> {
    let (mut first, mut last) = UnixStream::pair()?;
    let passed = Arc::<AtomicU64>::default();
    let top = climb.add_units(|| {
        let (mut to, next) = UnixStream::pair()?;
        let mut from = last.try_clone()?;
        let passed = passed.clone();
        thread::Builder::new().stack_size(stack_bytes as usize).spawn(move || {
            here();
            let mut token = [0];
            while from.read_exact(&mut token).is_ok() {
                passed.fetch_add(1, Ordering::Relaxed);
                if to.write_all(&token).is_err() {
                    break;
                }
            }
        })?;
        drop(replace(&mut last, next));
        Ok(())
    })?;
    // Whoever is alive hands the byte on, and so it comes out at the other end.
    first.write_all(&[1])?;
    last.read_exact(&mut [0])?;
    let alive = settled(top.added).min(passed.load(Ordering::Relaxed));
    top.report(alive)
}

fn main() -> ExitCode {
    limits::reach(harness::name!(), |_| Needs::THREAD_BRIGADE, reach_thread_brigade)
}
