//! Places in which futures of one type stay from their first poll until they are dropped.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// How many places there are. A number of a place is below it, and so the remainder of itself: said that way, the compiler need not
/// check it.
pub const SLOTS: usize = 512;

/// Places, each with a waker. None is ever added, so that no future moves.
pub struct Slots<F>(Box<[Slot<F>; SLOTS]>);

/// It begins a cache line, so that what is looked at first is on one.
#[repr(align(64))]
struct Slot<F> {
    waker: Waker,
    future: Option<F>,
}

impl<F: Future<Output = ()>> Slots<F> {
    /// Empty places, each with the waker of its index.
    pub fn new(waker: impl Fn(u32) -> Waker) -> Self {
        // On the heap from the start: large futures would not fit the stack.
        let slots: Box<[_]> = (0..SLOTS as u32).map(|index| Slot { waker: waker(index), future: None }).collect();
        Self(slots.try_into().ok().expect("as many as there are places"))
    }

    /// Puts a future where none is. It is made there, and not moved.
    #[inline]
    pub fn put(&mut self, index: u32, make: impl FnOnce() -> F) {
        let slot = &mut self.0[index as usize % SLOTS];
        assert!(slot.future.is_none(), "a future is put where none is");
        slot.future = Some(make());
    }

    /// Gives the place another waker.
    #[inline]
    pub fn set_waker(&mut self, index: u32, waker: Waker) {
        self.0[index as usize % SLOTS].waker = waker;
    }

    /// Polls the future there, if there is one, and drops it when it is ready.
    #[inline]
    pub fn poll(&mut self, index: u32) -> Poll<()> {
        let slot = &mut self.0[index as usize % SLOTS];
        let Some(future) = &mut slot.future else { return Poll::Pending };
        // SAFETY: nothing takes a future out of its place or swaps it: `put` writes only where none is, and below it is dropped
        // where it stands. The places themselves are a box that is private to this type and never exchanged.
        let polled = unsafe { Pin::new_unchecked(future) }.poll(&mut Context::from_waker(&slot.waker));
        if polled.is_ready() {
            slot.future = None;
        }
        polled
    }
}
