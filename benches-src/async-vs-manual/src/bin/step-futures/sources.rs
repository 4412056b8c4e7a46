//! Sources that are registered as long as they are open, and keep nothing of who waits for them: that is the loop's affair.

use std::task::{Context, Poll};

use async_vs_manual::fake::{Listener, Stream};
use async_vs_manual::server::{Accept, Exchange};

/// A listener that is registered from its beginning to its end.
pub struct Listens<'n>(pub Listener<'n>);

/// A stream that is registered from its beginning to its end.
pub struct Streams<'n>(Stream<'n>);

impl<'n> Listens<'n> {
    /// Registers it.
    pub fn new(listener: Listener<'n>) -> Self {
        listener.register();
        Self(listener)
    }
}

impl<'n> Streams<'n> {
    /// Registers it.
    #[inline]
    pub fn new(stream: Stream<'n>) -> Self {
        stream.register();
        Self(stream)
    }
}

impl<'n> Accept for Listens<'n> {
    type Accepted = Stream<'n>;

    #[inline]
    fn poll_accept(&self, _: &mut Context<'_>) -> Poll<Stream<'n>> {
        self.0.accept().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Exchange for Streams<'_> {
    #[inline]
    fn poll_read(&self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<usize> {
        self.0.read(buffer).map_or(Poll::Pending, Poll::Ready)
    }

    #[inline]
    fn poll_write(&self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<usize> {
        self.0.write(bytes).map_or(Poll::Pending, Poll::Ready)
    }

    #[inline]
    fn work(&self) {
        self.0.network().work();
    }
}

impl Drop for Listens<'_> {
    fn drop(&mut self) {
        self.0.unregister();
    }
}

impl Drop for Streams<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unregister();
    }
}
