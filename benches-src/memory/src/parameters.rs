//! What a reader can vary, and whether this machine has room for it.

use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::Unavailable;
use serde::Serialize;

/// What all parameters say.
pub trait Held {
    /// Units held at the last and largest count.
    fn most(&self) -> usize;

    /// What each of them touches.
    fn touch_bytes(&self) -> usize;
}

/// What each unit writes to while it is held: only these sizes, since a future's memory is part of its type.
pub const TOUCHES: [usize; 5] = [0, 1024, 4096, 16_384, 65_536];

/// Reads one of these sizes from the command line.
pub fn touch_bytes(text: &str) -> Result<usize, String> {
    let known = text.parse().ok().filter(|bytes| TOUCHES.contains(bytes));
    known.ok_or_else(|| format!("one of {TOUCHES:?}"))
}

/// The parameters of tasks, and of whatever else has no stack.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Tasks {
    /// Tasks held at the last of eight evenly spaced counts
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(8..=10_000_000))]
    most: u64,
    /// What each writes to in its future's own memory, a byte in each page
    #[arg(long, default_value_t = 0, value_parser = touch_bytes)]
    pub touch_bytes: usize,
}

impl Held for Tasks {
    fn most(&self) -> usize {
        self.most as usize
    }

    fn touch_bytes(&self) -> usize {
        self.touch_bytes
    }
}

/// The parameters of threads.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Threads {
    /// Threads held at the last of eight evenly spaced counts
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u64).range(8..=1_000_000))]
    most: u64,
    /// The stack that each is given; 0 means the standard library's default
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1 << 30))]
    stack_bytes: u64,
    /// What each writes to on its own stack, a byte in each page
    #[arg(long, default_value_t = 0, value_parser = touch_bytes)]
    pub touch_bytes: usize,
}

impl Held for Threads {
    fn most(&self) -> usize {
        self.most as usize
    }

    fn touch_bytes(&self) -> usize {
        self.touch_bytes
    }
}

impl Threads {
    /// The beginning of a thread with such a stack.
    pub fn builder(&self) -> thread::Builder {
        let builder = thread::Builder::new();
        if self.stack_bytes == 0 { builder } else { builder.stack_size(self.stack_bytes as usize) }
    }

    /// The size of that stack; 0 still means a default, here the C library's.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes as usize
    }

    /// Refuses to touch anything, in programs that do not.
    pub fn needs_no_touch(&self) -> Result<()> {
        ensure!(self.touch_bytes == 0, "this program's threads touch nothing");
        Ok(())
    }

    /// Refuses what would run over the stack's end.
    pub fn check(&self) -> Result<()> {
        if self.stack_bytes == 0 { Ok(()) } else { fits(self.touch_bytes, self.stack_bytes as usize) }
    }
}

/// The parameters of brigades, whose members each have a socket pair, which is two descriptors.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Brigade {
    /// Members held at the last of eight evenly spaced counts
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u64).range(8..=1_000_000))]
    most: u64,
}

impl Held for Brigade {
    fn most(&self) -> usize {
        self.most as usize
    }

    fn touch_bytes(&self) -> usize {
        0
    }
}

/// Refuses a stack that has no room for what is touched on it.
pub fn fits(touch_bytes: usize, stack_bytes: usize) -> Result<()> {
    const FOR_EVERYTHING_ELSE: usize = 16 << 10;
    if stack_bytes < touch_bytes + FOR_EVERYTHING_ELSE {
        return Err(Unavailable::because(format!("a stack of {stack_bytes} B has no room to touch {touch_bytes} B")));
    }
    Ok(())
}

/// Makes sure that `count` more mappings can be made of this process's memory.
pub fn reserve_mappings(count: usize) -> Result<()> {
    let path = "/proc/sys/vm/max_map_count";
    let limit =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?.trim().parse::<usize>()?;
    if limit < count + 200 {
        let reason = format!(
            "it needs {count} mappings and vm.max_map_count allows for {limit} (as root: sysctl vm.max_map_count)"
        );
        return Err(Unavailable::because(reason));
    }
    Ok(())
}
