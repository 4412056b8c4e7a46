//! A single-threaded executor and a one-slot channel, small enough to be read: what remains of async when everything that
//! a general runtime adds is taken away. No `unsafe`.
//!
//! Wakers may be sent anywhere. Waking on the executor's own thread costs a push onto a queue that no other thread sees;
//! waking from elsewhere takes a lock and unparks the executor's thread.

#![forbid(unsafe_code)]

mod slot;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

pub use slot::{Receiver, Sender, channel};

/// Runs futures on the thread that calls [`Executor::block_on`].
#[derive(Default)]
pub struct Executor {
    tasks: RefCell<Vec<Task>>,
    /// Places whose task has ended.
    free: RefCell<Vec<usize>>,
    /// Spawned, and not yet in their places: a task may spawn others while all places are borrowed.
    spawned: RefCell<Vec<Spawned>>,
    any_spawned: Cell<bool>,
    remote: Arc<Remote>,
}

type Spawned = Pin<Box<dyn Future<Output = ()>>>;

/// A place for a future.
struct Task {
    /// None once it has ended; its place is then used again.
    future: Option<Spawned>,
    handle: Arc<Handle>,
    waker: Waker,
}

/// What a waker points at.
struct Handle {
    executor: usize,
    index: usize,
    queued: AtomicBool,
    remote: Arc<Remote>,
}

/// How other threads reach an executor.
#[derive(Default)]
struct Remote {
    woken: Mutex<Vec<usize>>,
    thread: Mutex<Option<Thread>>,
}

/// Of the future that `block_on` was called with; tasks count from 0.
const MAIN: usize = usize::MAX;
/// Of nothing.
const NONE: usize = usize::MAX - 1;

/// What runs on a thread. The queue of indices that can go on is in two parts, so that a queue of one is a single word:
/// `next` goes first, and what waits behind it is in [`BEHIND`], which is empty whenever `next` is none.
struct Local {
    executor: Cell<usize>,
    next: Cell<usize>,
    behind: Cell<usize>,
}

thread_local! {
    static LOCAL: Local = const { Local { executor: Cell::new(0), next: Cell::new(NONE), behind: Cell::new(0) } };
    static BEHIND: RefCell<VecDeque<usize>> = const { RefCell::new(VecDeque::new()) };
}

impl Local {
    #[inline]
    fn push(&self, index: usize) {
        if self.next.get() == NONE { self.next.set(index) } else { self.push_behind(index) }
    }

    #[inline(never)]
    fn push_behind(&self, index: usize) {
        BEHIND.with_borrow_mut(|behind| behind.push_back(index));
        self.behind.update(|behind| behind + 1);
    }

    #[inline]
    fn pop(&self) -> usize {
        let index = self.next.replace(NONE);
        if self.behind.get() > 0 {
            self.move_up();
        }
        index
    }

    #[inline(never)]
    fn move_up(&self) {
        self.behind.update(|behind| behind - 1);
        self.next.set(BEHIND.with_borrow_mut(VecDeque::pop_front).expect("counted"));
    }
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        LOCAL.with(|local| {
            if local.executor.get() != self.executor {
                return self.remote.wake(self.index);
            }
            // Only this thread writes the flag while the executor runs, so a load and a store do for an exchange.
            if !self.queued.load(Relaxed) {
                self.queued.store(true, Relaxed);
                local.push(self.index);
            }
        });
    }
}

const UNPOISONED: &str = "nobody panics while holding it";

impl Remote {
    #[cold]
    fn wake(&self, index: usize) {
        self.woken.lock().expect(UNPOISONED).push(index);
        if let Some(thread) = &*self.thread.lock().expect(UNPOISONED) {
            thread.unpark();
        }
    }
}

impl Executor {
    /// An executor without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task. It runs when `block_on` does, and is dropped when it ends or with the executor.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.spawned.borrow_mut().push(Box::pin(future));
        self.any_spawned.set(true);
    }

    /// Runs tasks until this future is ready.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let _entered = Entered::new(self);
        let mut tasks = self.tasks.borrow_mut();
        let mut future = pin!(future);
        let handle = self.handle(MAIN);
        let waker = Waker::from(handle.clone());
        waker.wake_by_ref();
        LOCAL.with(|local| {
            loop {
                if self.any_spawned.get() {
                    self.find_places(&mut tasks);
                }
                match local.pop() {
                    NONE => self.wait(local),
                    MAIN => {
                        handle.queued.store(false, Relaxed);
                        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                            return value;
                        }
                    }
                    index => {
                        if tasks[index].poll().is_ready() {
                            self.free.borrow_mut().push(index);
                        }
                    }
                }
            }
        })
    }

    /// Puts what was spawned into places that are free, or into new ones.
    #[inline(never)]
    fn find_places(&self, tasks: &mut Vec<Task>) {
        self.any_spawned.set(false);
        for future in self.spawned.take() {
            let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
                let handle = self.handle(tasks.len());
                tasks.push(Task { future: None, waker: Waker::from(handle.clone()), handle });
                tasks.len() - 1
            });
            tasks[index].future = Some(future);
            tasks[index].waker.wake_by_ref();
        }
    }

    /// Nothing can go on here: looks for what other threads have woken, and sleeps until they have.
    #[cold]
    fn wait(&self, local: &Local) {
        let woken = std::mem::take(&mut *self.remote.woken.lock().expect(UNPOISONED));
        if woken.is_empty() {
            thread::park();
        }
        woken.into_iter().for_each(|index| local.push(index));
    }

    fn id(&self) -> usize {
        Arc::as_ptr(&self.remote).addr()
    }

    fn handle(&self, index: usize) -> Arc<Handle> {
        let remote = self.remote.clone();
        Arc::new(Handle { executor: self.id(), index, queued: AtomicBool::new(false), remote })
    }
}

impl Task {
    #[inline]
    fn poll(&mut self) -> Poll<()> {
        self.handle.queued.store(false, Relaxed);
        // A task that has ended may have been woken once more.
        let Some(future) = &mut self.future else { return Poll::Pending };
        let polled = future.as_mut().poll(&mut Context::from_waker(&self.waker));
        if polled.is_ready() {
            self.future = None;
        }
        polled
    }
}

/// An executor at work on this thread. What can still go on at the end waits for the next `block_on`.
struct Entered<'a>(&'a Executor);

impl<'a> Entered<'a> {
    fn new(executor: &'a Executor) -> Self {
        LOCAL.with(|local| {
            assert_eq!(local.executor.get(), 0, "an executor is already running on this thread");
            local.executor.set(executor.id());
        });
        *executor.remote.thread.lock().expect(UNPOISONED) = Some(thread::current());
        Self(executor)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            local.executor.set(0);
            let mut woken = self.0.remote.woken.lock().expect(UNPOISONED);
            let left = std::iter::from_fn(|| Some(local.pop()).filter(|index| *index != NONE));
            woken.extend(left.filter(|index| *index != MAIN));
        });
        *self.0.remote.thread.lock().expect(UNPOISONED) = None;
    }
}
