//! The executor: futures of one type, stored by value, in as many places as it was made with. It allocates nothing once it stands,
//! unless its wakers or its futures do.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::ptr::null;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::Context;

use crate::slots::{SLOTS, Slots};
use crate::wakers::Wakers;

/// The most tasks that one executor can have at once.
pub const TASKS: usize = SLOTS;

/// Runs futures of one type.
pub struct Tasks<F, W> {
    id: NonZeroU32,
    slots: Slots<F>,
    free: Vec<u32>,
    /// What was spawned before it ran.
    spawned: Vec<u32>,
    kind: W,
}

/// Which task of which executor a waker wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    executor: NonZeroU32,
    index: u32,
}

/// The queue of an executor that runs on this thread: a ring in which each task is at most once.
struct Ready {
    executor: Cell<Option<NonZeroU32>>,
    /// The task that is being polled, and what its waker points at.
    current: Cell<u32>,
    current_waker: Cell<*const ()>,
    queue: [Cell<u32>; TASKS],
    queued: [Cell<bool>; TASKS],
    first: Cell<u32>,
    end: Cell<u32>,
}

thread_local! {
    static READY: Ready = const {
        Ready {
            executor: Cell::new(None),
            current: Cell::new(0),
            current_waker: Cell::new(null()),
            queue: [const { Cell::new(0) }; TASKS],
            queued: [const { Cell::new(false) }; TASKS],
            first: Cell::new(0),
            end: Cell::new(0),
        }
    };
}

/// What other threads have woken, by executor.
static WOKEN: Mutex<BTreeMap<NonZeroU32, Vec<u32>>> = Mutex::new(BTreeMap::new());

/// Whether there is anything in it.
static ANY_WOKEN: AtomicBool = AtomicBool::new(false);

const UNPOISONED: &str = "nobody panics while holding it";

impl Ready {
    #[inline]
    fn push(&self, index: u32) {
        if !self.queued[index as usize % TASKS].replace(true) {
            let end = self.end.get();
            self.queue[end as usize % TASKS].set(index);
            self.end.set(end.wrapping_add(1));
        }
    }

    #[inline]
    fn pop(&self) -> Option<u32> {
        let first = self.first.get();
        (first != self.end.get()).then(|| {
            self.first.set(first.wrapping_add(1));
            let index = self.queue[first as usize % TASKS].get();
            self.queued[index as usize % TASKS].set(false);
            index
        })
    }
}

impl Handle {
    /// Lets its task go on, from any thread.
    #[inline]
    pub fn wake(self) {
        READY.with(|ready| {
            if ready.executor.get() == Some(self.executor) {
                ready.push(self.index)
            } else {
                self.wake_from_elsewhere()
            }
        });
    }

    /// The task of this context, if it is one that is being polled by an executor of this kind: what waits for it need not keep its
    /// waker then. A future that polls others with wakers of its own hides the task behind them.
    #[inline]
    pub fn of(context: &Context<'_>) -> Option<Self> {
        READY.with(|ready| {
            let known = ready.current_waker.get() == context.waker().data();
            let executor = ready.executor.get().filter(|_| known)?;
            Some(Self { executor, index: ready.current.get() })
        })
    }

    #[cold]
    fn wake_from_elsewhere(self) {
        // A waker may outlive its executor; then nobody has a list.
        if let Some(woken) = WOKEN.lock().expect(UNPOISONED).get_mut(&self.executor) {
            woken.push(self.index);
            ANY_WOKEN.store(true, Relaxed);
        }
    }
}

impl<F: Future<Output = ()>, W: Wakers> Tasks<F, W> {
    /// An executor without tasks.
    pub fn new(kind: W) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let id =
            NonZeroU32::new(LAST.fetch_add(1, Relaxed).wrapping_add(1)).expect("fewer than 2³² executors in a process");
        WOKEN.lock().expect(UNPOISONED).insert(id, Vec::new());
        let slots = Slots::new(|index| kind.at_the_start(Handle { executor: id, index }));
        Self { id, slots, free: (0..TASKS as u32).rev().collect(), spawned: Vec::with_capacity(TASKS), kind }
    }

    /// Adds a task, which begins when the executor runs.
    pub fn spawn(&mut self, make: impl FnOnce() -> F) {
        let index = self.put(make);
        self.spawned.push(index);
    }

    /// Runs until all tasks have ended: those that were spawned, and those that are made of what arrives meanwhile. `wait` wakes some of
    /// them; what other threads wake while it waits goes on when it returns.
    #[inline]
    pub fn run<A>(
        &mut self,
        mut arrive: impl FnMut() -> Option<A>,
        mut make: impl FnMut(A) -> F,
        mut wait: impl FnMut(),
    ) {
        let _entered = Entered::new(self.id);
        READY.with(|ready| {
            self.spawned.drain(..).for_each(|index| ready.push(index));
            while self.free.len() < TASKS {
                while let Some(index) = ready.pop() {
                    self.poll(ready, index);
                    // Placed at once, so that places and descriptors are taken and given back in the same order.
                    while let Some(arrived) = arrive() {
                        ready.push(self.put(|| make(arrived)));
                    }
                }
                if ANY_WOKEN.load(Relaxed) {
                    self.take_woken(ready);
                } else if self.free.len() < TASKS {
                    wait();
                }
            }
        });
    }

    #[inline]
    fn put(&mut self, make: impl FnOnce() -> F) -> u32 {
        let index = self.free.pop().expect("fewer tasks than there are places");
        if let Some(waker) = self.kind.for_a_task(Handle { executor: self.id, index }) {
            self.slots.set_waker(index, waker);
        }
        self.slots.put(index, make);
        index
    }

    #[inline]
    fn poll(&mut self, ready: &Ready, index: u32) {
        ready.current.set(index);
        ready.current_waker.set(self.slots.waker(index).data());
        if self.slots.poll(index).is_ready() {
            self.free.push(index);
        }
    }

    #[cold]
    fn take_woken(&mut self, ready: &Ready) {
        let mut lists = WOKEN.lock().expect(UNPOISONED);
        lists.get_mut(&self.id).into_iter().flat_map(|woken| woken.drain(..)).for_each(|index| ready.push(index));
        ANY_WOKEN.store(lists.values().any(|woken| !woken.is_empty()), Relaxed);
    }
}

impl<F, W> Drop for Tasks<F, W> {
    fn drop(&mut self) {
        WOKEN.lock().expect(UNPOISONED).remove(&self.id);
    }
}

/// An executor at work on this thread.
struct Entered;

impl Entered {
    fn new(id: NonZeroU32) -> Self {
        READY.with(|ready| {
            assert_eq!(ready.executor.replace(Some(id)), None, "an executor is already running on this thread");
        });
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        READY.with(|ready| {
            while ready.pop().is_some() {}
            ready.current_waker.set(null());
            ready.executor.set(None);
        });
    }
}

/// Runs futures of any type, each in a box.
pub struct Boxes<'a, W>(Tasks<Pin<Box<dyn Future<Output = ()> + 'a>>, W>);

impl<'a, W: Wakers> Boxes<'a, W> {
    /// An executor without tasks.
    pub fn new(kind: W) -> Self {
        Self(Tasks::new(kind))
    }

    /// Adds a task, which begins when the executor runs.
    #[inline]
    pub fn spawn(&mut self, future: impl Future<Output = ()> + 'a) {
        self.0.spawn(|| Box::pin(future));
    }

    /// Runs until all tasks have ended, as [`Tasks::run`] does.
    #[inline]
    pub fn run<A, F: Future<Output = ()> + 'a>(
        &mut self,
        arrive: impl FnMut() -> Option<A>,
        mut make: impl FnMut(A) -> F,
        wait: impl FnMut(),
    ) {
        self.0.run(arrive, |arrived| Box::pin(make(arrived)), wait);
    }
}
