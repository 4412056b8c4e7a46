//! Where a task's waker lives, and how it is counted. All four do the same when woken; they differ in what it takes to make, to clone
//! and to drop them.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr::{self, without_provenance};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, RawWaker, RawWakerVTable, Wake, Waker};

use crate::tasks::Handle;

/// A kind of wakers.
pub trait Wakers {
    /// The waker that a place for tasks has from the start.
    fn at_the_start(&self, handle: Handle) -> Waker {
        let _ = handle;
        Waker::noop().clone()
    }

    /// The waker that a task brings along, if each has its own.
    fn for_a_task(&self, handle: impl FnOnce() -> Handle) -> Option<Waker>;
}

impl Wake for Handle {
    #[inline]
    fn wake(self: Arc<Self>) {
        Handle::wake(*self);
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        Handle::wake(**self);
    }
}

/// Each place for tasks has a waker, made with it: the handle's number stands where other wakers have a pointer. A waker that is kept after
/// its task has ended wakes the place's next task once too often, which every future has to bear.
pub struct Embedded;

impl Wakers for Embedded {
    fn at_the_start(&self, handle: Handle) -> Waker {
        let number = without_provenance(handle.number());
        // SAFETY: none of the functions of its table reads what the pointer would point at, and what they call may be called on any
        // thread.
        unsafe { Waker::from_raw(RawWaker::new(number, &NUMBER)) }
    }

    #[inline]
    fn for_a_task(&self, _: impl FnOnce() -> Handle) -> Option<Waker> {
        None
    }
}

/// What a waker does that is a number. A static, so that such wakers are known by its address.
static NUMBER: RawWakerVTable =
    RawWakerVTable::new(|number| RawWaker::new(number, &NUMBER), wake_number, wake_number, |_| {});

fn wake_number(number: *const ()) {
    Handle::of_number(number.addr()).expect("it is a handle's").wake();
}

impl Handle {
    /// The task of this context, if its waker is a number: what waits for it need not keep its waker then. A future that polls others
    /// with wakers of its own hides the task behind them.
    #[inline]
    pub fn of(context: &Context<'_>) -> Option<Self> {
        let waker = context.waker();
        if ptr::eq(waker.vtable(), &NUMBER) { Self::of_number(waker.data().addr()) } else { None }
    }
}

/// Each task has one, allocated with it and counted atomically.
pub struct EachArc;

impl Wakers for EachArc {
    #[inline]
    fn for_a_task(&self, handle: impl FnOnce() -> Handle) -> Option<Waker> {
        Some(Waker::from(Arc::new(handle())))
    }
}

/// Each task has one, allocated with it and counted without atomics, which panics on any thread but its own.
pub struct EachCheckedRc;

impl Wakers for EachCheckedRc {
    #[inline]
    fn for_a_task(&self, handle: impl FnOnce() -> Handle) -> Option<Waker> {
        let counted = Counted { handle: handle(), owner: Thread::here() };
        // SAFETY: each function of its table begins by making sure that it runs on this thread.
        Some(unsafe { counted.waker() })
    }
}

/// Each task has one, allocated with it and counted without atomics, and nothing watches over it.
pub struct EachRc(());

impl EachRc {
    /// A promise.
    ///
    /// # Safety
    ///
    /// No task may let its waker, or a clone of it, be used or dropped on another thread.
    pub unsafe fn promised() -> Self {
        Self(())
    }
}

impl Wakers for EachRc {
    #[inline]
    fn for_a_task(&self, handle: impl FnOnce() -> Handle) -> Option<Waker> {
        // SAFETY: whoever made `self` promised that no waker leaves this thread.
        Some(unsafe { Counted { handle: handle(), owner: Nobody }.waker() })
    }
}

/// Who may use a waker.
trait Owner: 'static {
    /// Whether this is the owner's thread.
    fn is_here(&self) -> bool;
}

struct Nobody;

impl Owner for Nobody {
    #[inline]
    fn is_here(&self) -> bool {
        true
    }
}

/// A thread, by a number that no other ever has.
#[derive(PartialEq, Eq)]
struct Thread(u64);

impl Thread {
    #[inline]
    fn here() -> Self {
        thread_local! { static NUMBER: Cell<u64> = const { Cell::new(0) }; }
        static LAST: AtomicU64 = AtomicU64::new(0);
        NUMBER.with(|number| {
            if number.get() == 0 {
                number.set(LAST.fetch_add(1, Relaxed) + 1);
            }
            Self(number.get())
        })
    }
}

impl Owner for Thread {
    #[inline]
    fn is_here(&self) -> bool {
        *self == Self::here()
    }
}

const ELSEWHERE: &str = "this waker was taken to another thread than its task's";

/// What an Rc waker points at.
struct Counted<O> {
    handle: Handle,
    owner: O,
}

impl<O: Owner> Counted<O> {
    const TABLE: RawWakerVTable = RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    /// A waker that is the only one so far.
    ///
    /// # Safety
    ///
    /// Either the owner asserts that it is used on this thread only, or nobody ever does otherwise.
    #[inline]
    unsafe fn waker(self) -> Waker {
        let pointer = Rc::into_raw(Rc::new(self)).cast();
        // SAFETY: the functions below keep a waker's contract on this thread, and the caller sees to it that there is no other.
        unsafe { Waker::from_raw(RawWaker::new(pointer, &Self::TABLE)) }
    }

    /// Whether this is the thread on which it may be used.
    ///
    /// # Safety
    ///
    /// The pointer is that of a waker made above that has not been dropped.
    #[inline]
    unsafe fn is_here(pointer: *const ()) -> bool {
        // SAFETY: the waker holds a count, so that what it points at is there, and whoever owns it is never written.
        unsafe { &*pointer.cast::<Self>() }.owner.is_here()
    }

    /// What the pointer points at, with the count that the waker holds still held.
    ///
    /// # Safety
    ///
    /// The pointer is that of a waker made above that has not been dropped.
    #[inline]
    unsafe fn of(pointer: *const ()) -> ManuallyDrop<Rc<Self>> {
        // SAFETY: the caller's waker is alive.
        assert!(unsafe { Self::is_here(pointer) }, "{ELSEWHERE}");
        // SAFETY: it came from `Rc::into_raw`, this is its thread, and the count is not given up.
        ManuallyDrop::new(unsafe { Rc::from_raw(pointer.cast()) })
    }

    unsafe fn clone(pointer: *const ()) -> RawWaker {
        // SAFETY: the caller's waker is alive.
        let another = Rc::clone(&*unsafe { Self::of(pointer) });
        RawWaker::new(Rc::into_raw(another).cast(), &Self::TABLE)
    }

    unsafe fn wake(pointer: *const ()) {
        // SAFETY: the caller's waker is alive until here, and its count is given up with it.
        let counted = ManuallyDrop::into_inner(unsafe { Self::of(pointer) });
        counted.handle.wake();
    }

    unsafe fn wake_by_ref(pointer: *const ()) {
        // SAFETY: the caller's waker is alive.
        unsafe { Self::of(pointer) }.handle.wake();
    }

    unsafe fn drop(pointer: *const ()) {
        // SAFETY: the caller's waker is alive.
        if !unsafe { Self::is_here(pointer) } {
            // A thread that panics drops what it holds, and must not panic once more: then the count is never given up.
            assert!(std::thread::panicking(), "{ELSEWHERE}");
            return;
        }
        // SAFETY: it came from `Rc::into_raw`, this is its thread, and its count is given up with the caller's waker.
        drop(unsafe { Rc::<Self>::from_raw(pointer.cast()) });
    }
}
