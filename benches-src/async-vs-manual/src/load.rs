//! What is added to the bare server: the cost of a system call at each call that is counted, and work for each request.

use std::hint::black_box;
use std::os::fd::OwnedFd;

use anyhow::Result;
use clap::Args;
use harness::Unavailable;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Serialize;

/// The parameters that every server has.
#[derive(Args, Serialize, Clone, Copy, Default)]
pub struct Loaded {
    /// Reads of an empty pipe at each call to register, unregister, poll, accept, read or write
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=64))]
    pub syscalls: u32,
    /// Instructions at each such call that wait for all earlier ones to end
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=64))]
    pub fences: u32,
    /// Multiplications at each such call, each of which waits for the one before
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub multiplications: u32,
    /// Work on each request: thousands of multiplications, each of which waits for the one before; a thousand are near a microsecond
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub work: u32,
}

/// It, ready to be done.
pub struct Load {
    added: Loaded,
    at_calls: bool,
    empty: (OwnedFd, OwnedFd),
}

impl Load {
    /// Opens the pipe that stays empty.
    pub fn new(added: Loaded) -> Result<Self> {
        if added.fences > 0 && !cfg!(target_arch = "x86_64") {
            return Err(Unavailable::because("this program knows no such instruction of this processor"));
        }
        let at_calls = added.syscalls + added.fences + added.multiplications > 0;
        Ok(Self { added, at_calls, empty: pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)? })
    }

    /// What each counted call costs beyond itself.
    #[inline]
    pub fn at_call(&self) {
        if self.at_calls {
            self.pay();
        }
    }

    #[inline(never)]
    fn pay(&self) {
        for _ in 0..self.added.syscalls {
            let read = rustix::io::read(&self.empty.0, &mut [0; 1]);
            assert_eq!(read, Err(Errno::AGAIN), "the pipe stays empty");
        }
        (0..self.added.fences).for_each(|_| fence());
        multiply(self.added.multiplications);
    }

    /// The work that each request asks for.
    #[inline]
    pub fn work(&self) {
        if self.added.work > 0 {
            multiply(self.added.work * 1000);
        }
    }
}

#[inline(never)]
fn multiply(times: u32) {
    let mut product = black_box(1_u64);
    for _ in 0..times {
        product = (product ^ 0x5bd1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    black_box(product);
}

#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: it needs SSE2, which every processor of this architecture has.
    unsafe { std::arch::x86_64::_mm_lfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn fence() {}
