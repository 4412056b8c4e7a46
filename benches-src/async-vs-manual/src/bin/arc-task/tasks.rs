//! Tasks that are each one piece of memory, and what runs them: all that there is of an executor here.

use std::cell::{Cell, UnsafeCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::{null, without_provenance};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize, fence};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// A task, in a box that goes with its last reference. References are wakers, and one that `run` holds until the future has ended and
/// nobody will look for it in the queue.
#[repr(C)]
struct Task<F> {
    head: Head,
    /// It is dropped by `run` when it has ended. With the last reference, only its memory goes.
    future: UnsafeCell<ManuallyDrop<F>>,
}

/// What is known of a task whatever its future is. Its cells belong to the thread of its run, while that lasts.
struct Head {
    references: AtomicUsize,
    run: usize,
    /// Who comes after it in the queue; null if it is not there, and may be put there.
    next: Cell<*const Head>,
    /// Whether it ended when it was in the queue once more.
    ended: Cell<bool>,
    poll: unsafe fn(*const Head) -> Poll<()>,
    table: &'static RawWakerVTable,
}

/// Nobody comes after the last one, nor after one that has ended.
const END: *const Head = without_provenance(align_of::<Head>());

/// The run on this thread, and the tasks of it that may go on, the last one first.
struct Running {
    run: Cell<usize>,
    first: Cell<*const Head>,
}

thread_local! {
    static RUNNING: Running = const { Running { run: Cell::new(0), first: Cell::new(END) } };
}

/// What other threads have woken, by run.
static WOKEN: Mutex<BTreeMap<usize, Vec<Waker>>> = Mutex::new(BTreeMap::new());

/// Whether there is anything in it.
static ANY_WOKEN: AtomicBool = AtomicBool::new(false);

const UNPOISONED: &str = "nobody panics while holding it";

/// Runs a future, and those that are made of what arrives meanwhile, which begin before the next one goes on, until all have ended. `wait`
/// wakes some of them, and is asked once no task can go on by itself. If one panics, it and the others are never dropped.
#[inline]
pub fn run<A, F: Future<Output = ()>>(
    first: impl Future<Output = ()>,
    mut arrive: impl FnMut() -> Option<A>,
    mut make: impl FnMut(A) -> F,
    mut wait: impl FnMut(),
) {
    let entered = Entered::new();
    RUNNING.with(|running| {
        let mut turn = running.begin(first);
        let mut alive = 1_usize;
        loop {
            while turn != END {
                // SAFETY: `run` holds a reference to each task in the queue.
                turn = unsafe { go_on(turn, &mut alive) };
                while let Some(arrived) = arrive() {
                    alive += 1;
                    // SAFETY: it is new, and the reference is still held that it began with.
                    unsafe { go_on(running.begin(make(arrived)), &mut alive) };
                }
            }
            // Who is woken meanwhile waits for the next turn, so that no task keeps the others waiting.
            turn = running.first.replace(END);
            if turn == END {
                if ANY_WOKEN.load(Relaxed) && entered.take_woken() {
                    continue;
                }
                if alive == 0 {
                    break;
                }
                wait();
            }
        }
    });
}

/// Lets the first of a queue go on; gives back the next one.
///
/// # Safety
///
/// It is a task of the run on this thread, new or in the queue, and `run` holds a reference to it.
#[inline]
unsafe fn go_on(task: *const Head, alive: &mut usize) -> *const Head {
    // SAFETY: there is a reference to it, which goes at the end of this function or later.
    let head = unsafe { &*task };
    let next = head.next.replace(null());
    // SAFETY: it has not ended, and so its future is there; nobody else polls it.
    if !head.ended.get() && unsafe { (head.poll)(task) }.is_pending() {
        return next;
    }
    *alive -= usize::from(!head.ended.replace(true));
    if head.next.get().is_null() {
        // From now on it is never put into the queue.
        head.next.set(END);
        // SAFETY: this is the reference that `run` holds, and the last time that it looks at the task.
        drop(unsafe { Waker::from_raw(RawWaker::new(task.cast(), head.table)) });
    }
    next
}

impl Running {
    /// A new task, as if it were the last of a queue.
    #[inline]
    fn begin<F: Future<Output = ()>>(&self, future: F) -> *const Head {
        let head = Head {
            references: AtomicUsize::new(1),
            run: self.run.get(),
            next: Cell::new(END),
            ended: Cell::new(false),
            poll: Task::<F>::poll,
            table: &Task::<F>::TABLE,
        };
        let task = Box::new(Task { head, future: UnsafeCell::new(ManuallyDrop::new(future)) });
        Box::into_raw(task).cast()
    }
}

/// Lets a task go on, from any thread.
///
/// # Safety
///
/// There is a reference to it.
#[inline]
unsafe fn wake(task: *const Head) {
    // SAFETY: it is there as long as the caller's reference. Its cells are looked at on the thread of its run only.
    let head = unsafe { &*task };
    RUNNING.with(|running| {
        if running.run.get() != head.run {
            // SAFETY: the reference is the caller's, and stays the caller's.
            wake_elsewhere(
                head.run,
                &ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(task.cast(), head.table)) }),
            );
        } else if head.next.get().is_null() {
            head.next.set(running.first.replace(task));
        }
    });
}

#[cold]
fn wake_elsewhere(run: usize, task: &Waker) {
    // A waker may outlive its run; then nobody has a list.
    if let Some(woken) = WOKEN.lock().expect(UNPOISONED).get_mut(&run) {
        woken.push(task.clone());
        ANY_WOKEN.store(true, Relaxed);
    }
}

impl<F: Future<Output = ()>> Task<F> {
    const TABLE: RawWakerVTable = RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    /// Polls its future, which is dropped if it is ready.
    ///
    /// # Safety
    ///
    /// It is a task with such a future, which is there; this is the thread of its run, and nobody else polls it.
    unsafe fn poll(task: *const Head) -> Poll<()> {
        // SAFETY: the caller has a reference, and none of the future but the one that is made here.
        let future = unsafe { &mut *(*task.cast::<Self>()).future.get() };
        // SAFETY: the caller's reference; this waker is not dropped.
        let waker = ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(task.cast(), &Self::TABLE)) });
        // SAFETY: it stands in a box that stays until its last reference goes, and is dropped there and never moved.
        let polled = unsafe { Pin::new_unchecked(&mut **future) }.poll(&mut Context::from_waker(&waker));
        if polled.is_ready() {
            // SAFETY: `run` polls no task whose future was ready.
            unsafe { ManuallyDrop::drop(future) };
        }
        polled
    }

    unsafe fn clone(task: *const ()) -> RawWaker {
        // SAFETY: the caller's waker is a reference.
        unsafe { &*task.cast::<Head>() }.references.fetch_add(1, Relaxed);
        RawWaker::new(task, &Self::TABLE)
    }

    unsafe fn wake(task: *const ()) {
        // SAFETY: the caller's waker is a reference until here, and is given up.
        unsafe { Self::wake_by_ref(task) };
        // SAFETY: as above.
        unsafe { Self::drop(task) };
    }

    unsafe fn wake_by_ref(task: *const ()) {
        // SAFETY: the caller's waker is a reference.
        unsafe { wake(task.cast()) };
    }

    unsafe fn drop(task: *const ()) {
        // SAFETY: the caller's waker is a reference, which is given up here.
        let references = &unsafe { &*task.cast::<Head>() }.references;
        // Whoever has the only one need not subtract: nobody else can add to it.
        if references.load(Acquire) != 1 {
            if references.fetch_sub(1, Release) != 1 {
                return;
            }
            fence(Acquire);
        }
        // SAFETY: it came from `Box::into_raw`, and this was the last reference. On whatever thread it is, nothing of the future is looked
        // at: it was dropped by its run, or never is.
        drop(unsafe { Box::from_raw(task.cast::<Self>().cast_mut()) });
    }
}

/// A run on this thread.
struct Entered(usize);

impl Entered {
    fn new() -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let run = LAST.fetch_add(1, Relaxed) + 1;
        RUNNING.with(|running| assert_eq!(running.run.replace(run), 0, "nothing else runs on this thread"));
        WOKEN.lock().expect(UNPOISONED).insert(run, Vec::new());
        Self(run)
    }

    /// Whether another thread has woken one of its tasks.
    #[cold]
    fn take_woken(&self) -> bool {
        let mut lists = WOKEN.lock().expect(UNPOISONED);
        let own = lists.get_mut(&self.0).map(std::mem::take).unwrap_or_default();
        ANY_WOKEN.store(lists.values().any(|woken| !woken.is_empty()), Relaxed);
        drop(lists);
        own.iter().for_each(Waker::wake_by_ref);
        !own.is_empty()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        RUNNING.with(|running| {
            running.run.set(0);
            running.first.set(END);
        });
        WOKEN.lock().expect(UNPOISONED).remove(&self.0);
    }
}
