//! A channel with room for one value, between tasks of one thread.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// In this order, so that what a value on its way touches lies side by side.
#[repr(C)]
struct Slot<T> {
    receiver: Waiting,
    value: Cell<Option<T>>,
    closed: Cell<bool>,
    sender: Waiting,
}

/// Who waits at one side, or did so last: the waker is kept, since to clone one anew costs an atomic addition.
#[repr(C)]
struct Waiting {
    waker: RefCell<Waker>,
    now: Cell<bool>,
}

/// The end to send into.
pub struct Sender<T>(Rc<Slot<T>>);

/// The end to receive from.
pub struct Receiver<T>(Rc<Slot<T>>);

/// A channel with room for one value.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let slot = Rc::new(Slot {
        value: Cell::new(None),
        closed: Cell::new(false),
        sender: Waiting::nobody(),
        receiver: Waiting::nobody(),
    });
    (Sender(slot.clone()), Receiver(slot))
}

impl<T: Unpin> Sender<T> {
    /// Waits for room and puts the value there. Gives it back if the receiver is gone.
    pub fn send(&mut self, value: T) -> Sending<'_, T> {
        Sending { slot: &self.0, value: Some(value) }
    }
}

impl<T> Receiver<T> {
    /// Waits for a value. `None` once the sender is gone and nothing is left.
    pub fn recv(&mut self) -> Receiving<'_, T> {
        Receiving { slot: &self.0 }
    }
}

/// What [`Sender::send`] returns.
pub struct Sending<'a, T> {
    slot: &'a Slot<T>,
    value: Option<T>,
}

/// What [`Receiver::recv`] returns.
pub struct Receiving<'a, T> {
    slot: &'a Slot<T>,
}

impl<T: Unpin> Future for Sending<'_, T> {
    type Output = Result<(), T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), T>> {
        let value = self.value.take().expect("polled no more once ready");
        if self.slot.closed.get() {
            return Poll::Ready(Err(value));
        }
        match self.slot.value.replace(Some(value)) {
            None => {
                self.slot.receiver.wake();
                Poll::Ready(Ok(()))
            }
            earlier => {
                // It was still there: it goes back to its place, and we wait.
                self.value = self.slot.value.replace(earlier);
                self.slot.sender.wait(context);
                Poll::Pending
            }
        }
    }
}

impl<T> Future for Receiving<'_, T> {
    type Output = Option<T>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        match self.slot.value.take() {
            None if self.slot.closed.get() => Poll::Ready(None),
            None => {
                self.slot.receiver.wait(context);
                Poll::Pending
            }
            value => {
                self.slot.sender.wake();
                Poll::Ready(value)
            }
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.closed.set(true);
        self.0.receiver.wake();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.closed.set(true);
        self.0.sender.wake();
    }
}

impl Waiting {
    fn nobody() -> Self {
        Self { waker: RefCell::new(Waker::noop().clone()), now: Cell::new(false) }
    }

    #[inline]
    fn wait(&self, context: &Context<'_>) {
        self.now.set(true);
        // Clones only if it would wake another task.
        self.waker.borrow_mut().clone_from(context.waker());
    }

    #[inline]
    fn wake(&self) {
        if self.now.replace(false) {
            self.waker.borrow().wake_by_ref();
        }
    }
}
