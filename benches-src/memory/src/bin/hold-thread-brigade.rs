//! One operation: one thread of a brigade held: with a stack of 1 MiB, blocked in `read` on a socket pair of its own.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};

use anyhow::Result;
use resources::{reserve_descriptors, reserve_threads};
use memory::{Brigade, Climb, Held, Units, started, wait_until_started};

/// As in the brigade that this chapter grew from.
const STACK_BYTES: usize = 1 << 20;

struct HoldThreadBrigade {
    /// The end that writes to whoever joined last, and so where the next to join is to pass the byte on to.
    end: Option<UnixStream>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

impl Units for HoldThreadBrigade {
    type Parameters = Brigade;

    fn set_up(parameters: &Brigade) -> Result<Self> {
        reserve_descriptors(2 * parameters.most() + 2)?;
        reserve_threads(parameters.most())?;
        let (end, _) = UnixStream::pair()?;
        Ok(Self { end: Some(end), threads: Vec::with_capacity(parameters.most()) })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let (end, from) = UnixStream::pair()?;
            let to = self.end.replace(end).expect("it is taken only at the end");
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            self.threads.push(thread.spawn(move || pass_on(from, to))?);
        }
        wait_until_started(self.threads.len())
    }
}

fn pass_on(mut from: UnixStream, mut to: UnixStream) -> io::Result<()> {
    let mut byte = [0];
    started();
    while from.read(&mut byte)? == 1 {
        to.write_all(&byte)?;
    }
    Ok(())
}

impl Drop for HoldThreadBrigade {
    fn drop(&mut self) {
        // The closed end goes from one to the next: each reads the end of its stream and leaves.
        self.end = None;
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn main() -> ExitCode {
    harness::once::<Climb<HoldThreadBrigade>>(harness::name!())
}
