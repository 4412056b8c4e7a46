//! The heap, counted exactly: an allocator that counts and lets the system's do the work.
//!
//! Counting takes time, so only a program that is never timed has it as its allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static BYTES: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Bytes that were asked for and not given back, in all threads together.
pub fn bytes() -> usize {
    BYTES.load(Relaxed)
}

/// Blocks that were asked for and not given back.
pub fn blocks() -> usize {
    BLOCKS.load(Relaxed)
}

/// The allocator of programs whose heap is counted.
pub struct Counting;

// SAFETY: every request goes to the system's allocator unchanged and its answer comes back unchanged; what is done beside
// that touches two integers and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller's promises about `layout` are those that the system's allocator asks for.
        count(unsafe { System.alloc(layout) }, layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        count(unsafe { System.alloc_zeroed(layout) }, layout)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        // SAFETY: our caller got `block` from us for this layout, and we got it from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: our caller got `block` from us for this layout, and we got it from the system's allocator.
        let moved = unsafe { System.realloc(block, layout, new_size) };
        if !moved.is_null() {
            BYTES.fetch_add(new_size, Relaxed);
            BYTES.fetch_sub(layout.size(), Relaxed);
        }
        moved
    }
}

#[inline]
fn count(block: *mut u8, layout: Layout) -> *mut u8 {
    if !block.is_null() {
        BYTES.fetch_add(layout.size(), Relaxed);
        BLOCKS.fetch_add(1, Relaxed);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static HEAP: Counting = Counting;

    #[test]
    fn what_is_asked_for_is_counted_and_what_is_given_back_is_not() {
        const LARGE: usize = 1 << 30;
        // Other tests allocate and free meanwhile, but nothing near that.
        let rounded = |bytes: usize| (bytes + LARGE / 2) / LARGE;
        let before = bytes();
        let mut block = Vec::<u8>::with_capacity(LARGE);
        assert_eq!(rounded(bytes() - before), 1);
        block.reserve_exact(2 * LARGE);
        assert_eq!(rounded(bytes() - before), 2);
        drop(block);
        assert_eq!(rounded(bytes().saturating_sub(before)), 0);
    }
}
