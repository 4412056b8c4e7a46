//! Stacks that are there before the threads that are to run on them.

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};

use anyhow::{Context, Result, ensure};

use crate::pthread::Attributes;

/// Stacks one above the other in a mapping of their own, each with a page below it that nobody may touch.
pub struct Stacks {
    lowest: NonNull<c_void>,
    count: usize,
    guard_bytes: usize,
    stack_bytes: usize,
}

impl Stacks {
    /// Takes the addresses, and leave to touch none of them. An error where there is no room for so many.
    pub fn map(count: usize, stack_bytes: usize) -> Result<Self> {
        // SAFETY: it asks for a number.
        let page_bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })?;
        let stack_bytes = stack_bytes.next_multiple_of(page_bytes);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        let bytes = count * (page_bytes + stack_bytes);
        // SAFETY: a new private mapping at an address of the kernel's choice overlaps nothing that anybody uses.
        let lowest = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        ensure!(lowest != libc::MAP_FAILED, "cannot map {count} stacks: {}", io::Error::last_os_error());
        let lowest = NonNull::new(lowest).context("nothing is mapped at address 0")?;
        Ok(Self { lowest, count, guard_bytes: page_bytes, stack_bytes })
    }

    /// Makes one of them usable, and has its upper end in memory: that is where a thread begins, and where the C library notes
    /// what it has to know of one.
    pub fn ready(&self, number: usize) -> Result<Attributes> {
        /// More than a thread touches that does nothing, and no more than the smallest stack has.
        const TOUCHED_BYTES: usize = 16_384;
        let Self { guard_bytes, stack_bytes, .. } = *self;
        // SAFETY: the sum lies within the mapping, since the number is below the count.
        let lowest = unsafe { self.lowest.byte_add(number * (guard_bytes + stack_bytes) + guard_bytes) };
        // SAFETY: whole pages of the mapping, which no thread uses yet.
        let usable = unsafe { libc::mprotect(lowest.as_ptr(), stack_bytes, libc::PROT_READ | libc::PROT_WRITE) } == 0;
        ensure!(usable, "cannot use stack {number}: {}", io::Error::last_os_error());
        // SAFETY: these bytes end where the stack does and may be written to since just now; no thread uses them yet.
        unsafe { lowest.byte_add(stack_bytes - TOUCHED_BYTES).write_bytes(0, TOUCHED_BYTES) };
        Attributes::of_stack(lowest, stack_bytes)
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        let bytes = self.count * (self.guard_bytes + self.stack_bytes);
        // SAFETY: the mapping is this value's own, and every thread that was on it has been joined.
        let unmapped = unsafe { libc::munmap(self.lowest.as_ptr(), bytes) };
        debug_assert_eq!(unmapped, 0);
    }
}
