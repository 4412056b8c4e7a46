//! Places in which nothing is looked at twice.

use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use async_vs_manual::fake::SOURCES;

/// A place for a future for each descriptor. Nobody keeps which of them are taken.
pub struct Places<F>(Box<[MaybeUninit<F>; SOURCES]>);

impl<F: Future<Output = ()>> Places<F> {
    /// Places with nothing in them, which is not kept anywhere.
    pub fn new() -> Self {
        Self(Box::new([const { MaybeUninit::uninit() }; SOURCES]))
    }

    /// Makes a future in its place.
    ///
    /// # Safety
    ///
    /// None is there that was not ready, and each that is put is polled until it is ready before
    /// the places are dropped: a future stays pinned where it was polled until it is dropped.
    #[inline]
    pub unsafe fn put(&mut self, descriptor: u32, make: impl FnOnce() -> F) {
        self.0[descriptor as usize].write(make());
    }

    /// Polls the future there, and drops it when it is ready.
    ///
    /// # Safety
    ///
    /// One was put there, and has not been ready since.
    #[inline]
    pub unsafe fn poll(&mut self, descriptor: u32) -> Poll<()> {
        // SAFETY: `put` has found the descriptor within bounds, and the future is there, as the caller promises.
        let future = unsafe { self.0.get_unchecked_mut(descriptor as usize).assume_init_mut() };
        // SAFETY: the places are never moved, and what is in them is dropped there.
        let polled = unsafe { Pin::new_unchecked(&mut *future) }.poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            // SAFETY: it is there, and nobody polls it again.
            unsafe { std::ptr::drop_in_place(future) };
        }
        polled
    }
}
