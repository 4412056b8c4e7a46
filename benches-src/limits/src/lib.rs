//! What the programs of this chapter share: reading a machine's limits, the ceilings that they imply, the climb towards them in
//! a child process, and the detective who finds out which one has been met.
//!
//! Everything reads below [`Roots`], so that tests can give it a machine that is made up. No path, user or name of a group
//! leaves this crate: the groups above a process are numbered, its own being 0.

mod ceilings;
mod climb;
mod detective;
mod guardian;
mod machine;
mod reach;

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use harness::Unavailable;
use observation::Measure;
use serde::{Deserialize, Serialize};

pub use ceilings::{CEILINGS, Ceiling, Needs, allowed, ceilings, nearest};
pub use climb::{Climb, End, Ledger, Order, Report, Top, Used};
pub use detective::{Detective, Finding, Suspect, suspects};
pub use guardian::{Guardian, Undo, guard};
pub use machine::{Group, Limit, Machine, Roots};
pub use reach::{Asked, Bounds, Outcome, reach, send_up};

/// No parameters but those of every climb.
#[derive(Args, Serialize, Deserialize, Clone, Copy)]
pub struct Nothing {}

/// The size of a thread's stack.
#[derive(Args, Serialize, Deserialize, Clone, Copy)]
pub struct Stack {
    /// Address space for the stack of each thread
    #[arg(long, default_value_t = 64 << 10, value_parser = clap::value_parser!(u64).range(16 << 10..=1 << 30))]
    pub stack_bytes: u64,
}

/// A result that is a plain count.
pub fn count(value: f64) -> Measure {
    Measure { unit: "1".to_owned(), values: vec![value] }
}

/// A result in bytes.
pub fn bytes(value: f64) -> Measure {
    Measure { unit: "B".to_owned(), values: vec![value] }
}

/// How many threads of this process have counted themselves.
static HERE: AtomicU64 = AtomicU64::new(0);

/// The calling thread is alive, and says so once.
pub fn here() {
    HERE.fetch_add(1, Ordering::Relaxed);
}

/// How many have said so.
pub fn counted() -> u64 {
    HERE.load(Ordering::Relaxed)
}

/// Waits until as many have counted themselves as were added, or until nobody new has for a while; how many have.
pub fn settled(added: u64) -> u64 {
    const PATIENCE: Duration = Duration::from_secs(2);
    let (mut last, mut moved) = (counted(), Instant::now());
    while last < added && moved.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
        let now = counted();
        if now != last {
            (last, moved) = (now, Instant::now());
        }
    }
    last
}

/// What the C library is to be told of threads with such a stack; unavailable where it asks for a larger one.
pub fn attributes(Stack { stack_bytes }: Stack) -> Result<libc::pthread_attr_t> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: it writes attributes that are whole; nobody else has them.
    ensure!(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) } == 0, "the C library makes no attributes");
    // SAFETY: `init` has written them, since it did not fail.
    let mut attributes = unsafe { attributes.assume_init() };
    // SAFETY: they are whole, and stay so whatever it answers.
    if unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, stack_bytes as usize) } != 0 {
        let least = libc::PTHREAD_STACK_MIN;
        return Err(Unavailable::because(format!(
            "the C library asks for stacks of {least} bytes at least, and not of {stack_bytes}"
        )));
    }
    Ok(attributes)
}

/// Maps a second stack for the calling thread, as the standard library does for handling signals; whether it could be. Nobody uses
/// it, and it stays until the process ends.
pub fn map_second_stack(guarded: bool) -> bool {
    let page_bytes = rustix::param::page_size();
    let (length, flags) = (libc::SIGSTKSZ + usize::from(guarded) * page_bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the kernel's choice, which nobody else knows.
    let stack = unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    // SAFETY: the first page of the mapping just made, which holds nothing.
    let protect = || unsafe { libc::mprotect(stack, page_bytes, libc::PROT_NONE) };
    stack != libc::MAP_FAILED && (!guarded || protect() == 0)
}

/// What is not done unless it is asked for.
pub fn only_when_asked(push: bool) -> Result<()> {
    if push {
        return Ok(());
    }
    Err(Unavailable::because(
        "it pushes this machine to a limit, which is done only when asked for (--push true; cargo tally measure … --push-limits)",
    ))
}
