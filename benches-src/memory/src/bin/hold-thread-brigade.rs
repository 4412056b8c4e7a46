//! One operation: one thread of a brigade held: with a stack of 1 MiB, blocked in `read` on a socket pair of its own.

use std::io::{self, Read, Write};
use std::mem::replace;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use memory::{Brigade, Climb, Counting, Held, started, wait_until_started};
use resources::{reserve_descriptors, reserve_threads};

/// As in the brigade that this chapter grew from.
const STACK_BYTES: usize = 1 << 20;

fn hold_thread_brigade(parameters: Brigade, climb: Climb) -> Result<()> {
    reserve_descriptors(2 * parameters.most() + 2)?;
    reserve_threads(parameters.most())?;
    // The end that writes to whoever joined last, and so where the next to join is to pass the byte on to.
    let (mut last, _) = UnixStream::pair()?;
    let mut threads = Vec::with_capacity(parameters.most());
    let climbed = climb.add_units(|held, next| {
        for _ in held..next {
            let (end, from) = UnixStream::pair()?;
            let to = replace(&mut last, end);
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            threads.push(thread.spawn(move || pass_on(from, to))?);
        }
        wait_until_started(next)
    });
    // The closed end goes from one to the next: each reads the end of its stream and leaves.
    drop(last);
    threads.into_iter().for_each(|thread| drop(thread.join()));
    climbed
}

fn pass_on(mut from: UnixStream, mut to: UnixStream) -> io::Result<()> {
    let mut byte = [0];
    started();
    while from.read(&mut byte)? == 1 {
        to.write_all(&byte)?;
    }
    Ok(())
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_thread_brigade)
}
