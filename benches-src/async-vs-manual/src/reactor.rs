//! The reactor: it registers each source once, and knows who waits for it. Who that is, how they are told, and what else is kept of a
//! source, is a parameter.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

use crate::fake::{self, Event, Network, Readiness, SOURCES, WouldBlock};
use crate::server::{Accept, Exchange};
use crate::tasks::Handle;

/// What it keeps, by descriptor.
pub struct Reactor<'n, W> {
    network: &'n Network,
    waiters: Box<[W; SOURCES]>,
    events: RefCell<Vec<Event>>,
}

/// Who waits for a source.
pub trait Waiter: Default {
    /// From now on it is the task of this context.
    fn waits(&self, context: &Context<'_>);

    /// It may go on.
    fn wake(&self);

    /// The source is new, and worth one try.
    #[inline]
    fn begins(&self) {}

    /// The poller says that the source is ready.
    #[inline]
    fn becomes(&self, readiness: Readiness) {
        let _ = readiness;
    }

    /// The source is known not to be ready any more.
    #[inline]
    fn is_no_longer(&self, readiness: Readiness) {
        let _ = readiness;
    }

    /// Whether what this readiness allows is worth a try.
    #[inline]
    fn may_be(&self, readiness: Readiness) -> bool {
        let _ = readiness;
        true
    }

    /// Tries what this readiness allows, unless it is known to be impossible, and waits if it cannot be done.
    #[inline]
    fn attempt<T>(
        &self,
        context: &Context<'_>,
        readiness: Readiness,
        attempt: impl FnOnce() -> Result<T, WouldBlock>,
    ) -> Poll<T> {
        if self.may_be(readiness) {
            match attempt() {
                Ok(done) => return Poll::Ready(done),
                Err(WouldBlock) => self.is_no_longer(readiness),
            }
        }
        self.waits(context);
        Poll::Pending
    }
}

/// A task, by its waker, whatever the executor: the one that waits, or waited last. It stays, so that a task that comes back need not be
/// cloned anew, and may wake a task once too often, which every future has to bear.
pub struct Woken(RefCell<Waker>);

impl Default for Woken {
    fn default() -> Self {
        Self(RefCell::new(Waker::noop().clone()))
    }
}

impl Waiter for Woken {
    #[inline]
    fn waits(&self, context: &Context<'_>) {
        let mut waker = self.0.borrow_mut();
        if !waker.will_wake(context.waker()) {
            waker.clone_from(context.waker());
        }
    }

    #[inline]
    fn wake(&self) {
        self.0.borrow().wake_by_ref();
    }
}

/// A task of an executor that is known, by its number; any other by its waker.
#[derive(Default)]
pub struct Known {
    task: Cell<Option<Handle>>,
    other: Woken,
}

impl Waiter for Known {
    #[inline]
    fn waits(&self, context: &Context<'_>) {
        self.task.set(Handle::of(context));
        if self.task.get().is_none() {
            self.other.waits(context);
        }
    }

    #[inline]
    fn wake(&self) {
        match self.task.get() {
            Some(task) => task.wake(),
            None => self.other.wake(),
        }
    }
}

/// Whoever waits, and what the source is ready for: what is known to be impossible is not tried.
pub struct Remembering<W> {
    ready: Cell<Readiness>,
    waiter: W,
}

impl<W: Default> Default for Remembering<W> {
    fn default() -> Self {
        Self { ready: Cell::new(Readiness::BOTH), waiter: W::default() }
    }
}

impl<W: Waiter> Waiter for Remembering<W> {
    #[inline]
    fn waits(&self, context: &Context<'_>) {
        self.waiter.waits(context);
    }

    #[inline]
    fn wake(&self) {
        self.waiter.wake();
    }

    #[inline]
    fn begins(&self) {
        self.ready.set(Readiness::BOTH);
    }

    #[inline]
    fn becomes(&self, readiness: Readiness) {
        self.ready.set(self.ready.get().and(readiness));
    }

    #[inline]
    fn is_no_longer(&self, readiness: Readiness) {
        self.ready.set(self.ready.get().but(readiness));
    }

    #[inline]
    fn may_be(&self, readiness: Readiness) -> bool {
        self.ready.get().has(readiness)
    }
}

impl<'n, W: Waiter> Reactor<'n, W> {
    /// Without sources.
    pub fn new(network: &'n Network) -> Self {
        let waiters = Box::new(std::array::from_fn(|_| W::default()));
        Self { network, waiters, events: RefCell::new(Vec::with_capacity(SOURCES)) }
    }

    /// A listener to which so many clients connect.
    pub fn listen(&self, clients: u32) -> Listener<'_, W> {
        let listener = self.network.listen(clients);
        listener.register();
        Listener { waiter: self.begin(listener.descriptor()), listener }
    }

    /// A stream that was accepted, as one for which a task can wait.
    #[inline]
    pub fn stream(&self, stream: fake::Stream<'n>) -> Stream<'_, W> {
        stream.register();
        Stream { waiter: self.begin(stream.descriptor()), stream }
    }

    /// Waits for the poller, and wakes whom it names.
    #[inline]
    pub fn wake(&self) {
        self.each(W::wake);
    }

    /// Waits for the poller, and says of each source that it names who waited for it last.
    #[inline]
    pub fn each(&self, mut tell: impl FnMut(&W)) {
        let events = &mut *self.events.borrow_mut();
        self.network.poll(events);
        for event in events {
            let waiter = &self.waiters[event.descriptor as usize % SOURCES];
            waiter.becomes(event.readiness);
            tell(waiter);
        }
    }

    #[inline]
    fn begin(&self, descriptor: u32) -> &W {
        let waiter = &self.waiters[descriptor as usize % SOURCES];
        waiter.begins();
        waiter
    }
}

/// A listener for which a task can wait.
pub struct Listener<'r, W> {
    listener: fake::Listener<'r>,
    waiter: &'r W,
}

impl<'r, W: Waiter> Accept for Listener<'r, W> {
    type Accepted = fake::Stream<'r>;

    #[inline]
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<fake::Stream<'r>> {
        self.waiter.attempt(context, Readiness::READABLE, || self.listener.accept())
    }
}

impl<W> Drop for Listener<'_, W> {
    fn drop(&mut self) {
        self.listener.unregister();
    }
}

/// A stream for which a task can wait.
pub struct Stream<'r, W> {
    stream: fake::Stream<'r>,
    waiter: &'r W,
}

impl<W: Waiter> Exchange for Stream<'_, W> {
    #[inline]
    fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<usize> {
        self.waiter.attempt(context, Readiness::READABLE, || self.stream.read(buffer))
    }

    #[inline]
    fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<usize> {
        self.waiter.attempt(context, Readiness::WRITABLE, || self.stream.write(bytes))
    }

    #[inline]
    fn work(&self) {
        self.stream.network().work();
    }
}

impl<W> Drop for Stream<'_, W> {
    #[inline]
    fn drop(&mut self) {
        self.stream.unregister();
    }
}
