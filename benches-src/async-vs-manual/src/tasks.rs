//! The executor: futures of one type, stored by value, in as many places as it was made with. It allocates nothing once it stands,
//! unless its wakers or its futures do.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::slots::{SLOTS, Slots};
use crate::wakers::Wakers;

/// The most tasks that one executor can have at once.
pub const TASKS: usize = SLOTS;

/// Runs futures of one type.
pub struct Tasks<F, W> {
    id: usize,
    slots: Slots<F>,
    free: Vec<u32>,
    /// What was spawned before it ran.
    spawned: Vec<u32>,
    kind: W,
}

/// Which task of which executor a waker wakes: the executor's id times [`TASKS`], and the place of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(NonZeroUsize);

/// The tasks of the executor that runs on this thread that may go on: a list in which each is at most once, the last one first.
struct Ready {
    /// The handle of its first place, as a number.
    base: Cell<usize>,
    first: Cell<u32>,
    /// By place: who comes after this one, or that it is not in the list.
    next: [Cell<u32>; TASKS],
}

/// Nobody comes after the last one.
const END: u32 = TASKS as u32;

/// Not in the list.
const IDLE: u32 = END + 1;

/// Where no executor runs: further from every handle than there are places.
const NO_BASE: usize = usize::MAX / 2 + 1;

thread_local! {
    static READY: Ready = const {
        Ready { base: Cell::new(NO_BASE), first: Cell::new(END), next: [const { Cell::new(IDLE) }; TASKS] }
    };
}

/// What other threads have woken, by executor.
static WOKEN: Mutex<BTreeMap<usize, Vec<u32>>> = Mutex::new(BTreeMap::new());

/// Whether there is anything in it.
static ANY_WOKEN: AtomicBool = AtomicBool::new(false);

const UNPOISONED: &str = "nobody panics while holding it";

impl Ready {
    #[inline]
    fn push(&self, index: u32) {
        let next = &self.next[index as usize % TASKS];
        if next.get() == IDLE {
            next.set(self.first.replace(index));
        }
    }

    /// Takes one off a list that begins with it.
    #[inline]
    fn take(&self, first: &mut u32) -> Option<u32> {
        let index = *first;
        *first = self.next.get(index as usize)?.replace(IDLE);
        Some(index)
    }
}

impl Handle {
    fn new(executor: usize, index: u32) -> Self {
        Self::of_number(executor * TASKS + index as usize).expect("an executor's id is not 0")
    }

    /// The handle that is this number; none is 0.
    #[inline]
    pub(crate) fn of_number(number: usize) -> Option<Self> {
        NonZeroUsize::new(number).map(Self)
    }

    /// The number that it is.
    #[inline]
    pub(crate) fn number(self) -> usize {
        self.0.get()
    }

    /// Lets its task go on, from any thread.
    #[inline]
    pub fn wake(self) {
        READY.with(|ready| {
            let index = self.number().wrapping_sub(ready.base.get());
            if index < TASKS { ready.push(index as u32) } else { self.wake_from_elsewhere() }
        });
    }

    #[cold]
    fn wake_from_elsewhere(self) {
        // A waker may outlive its executor; then nobody has a list.
        if let Some(woken) = WOKEN.lock().expect(UNPOISONED).get_mut(&(self.number() / TASKS)) {
            woken.push((self.number() % TASKS) as u32);
            ANY_WOKEN.store(true, Relaxed);
        }
    }
}

impl<F: Future<Output = ()>, W: Wakers> Tasks<F, W> {
    /// An executor without tasks.
    pub fn new(kind: W) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let id = LAST.fetch_add(1, Relaxed) + 1;
        assert!(id < NO_BASE / TASKS, "fewer executors in a process than there are handles");
        WOKEN.lock().expect(UNPOISONED).insert(id, Vec::new());
        let slots = Slots::new(|index| kind.at_the_start(Handle::new(id, index)));
        Self { id, slots, free: (0..TASKS as u32).rev().collect(), spawned: Vec::with_capacity(TASKS), kind }
    }

    /// Adds a task, which begins when the executor runs.
    pub fn spawn(&mut self, make: impl FnOnce() -> F) {
        let index = self.put(make);
        self.spawned.push(index);
    }

    /// Runs until all tasks have ended: those that were spawned, and those that are made of what arrives meanwhile, which begin before the
    /// next one goes on. `wait` wakes some of them, and is asked once no task can go on by itself; what other threads wake while it waits
    /// goes on when it returns.
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
            loop {
                // Who is woken meanwhile waits for the next turn, so that no task keeps the others waiting.
                let mut turn = ready.first.replace(END);
                if turn == END {
                    if ANY_WOKEN.load(Relaxed) && self.take_woken(ready) {
                        continue;
                    }
                    if self.free.len() == TASKS {
                        break;
                    }
                    wait();
                    continue;
                }
                while let Some(mut index) = ready.take(&mut turn) {
                    loop {
                        if self.slots.poll(index).is_ready() {
                            self.free.push(index);
                        }
                        let Some(arrived) = arrive() else { break };
                        index = self.put(|| make(arrived));
                    }
                }
            }
        });
    }

    #[inline]
    fn put(&mut self, make: impl FnOnce() -> F) -> u32 {
        let index = self.free.pop().expect("fewer tasks than there are places");
        if let Some(waker) = self.kind.for_a_task(|| Handle::new(self.id, index)) {
            self.slots.set_waker(index, waker);
        }
        self.slots.put(index, make);
        index
    }

    /// Whether there was one; what stands there may all be another executor's.
    #[cold]
    fn take_woken(&mut self, ready: &Ready) -> bool {
        let mut lists = WOKEN.lock().expect(UNPOISONED);
        let own = lists.get_mut(&self.id).map(std::mem::take).unwrap_or_default();
        own.iter().for_each(|index| ready.push(*index));
        ANY_WOKEN.store(lists.values().any(|woken| !woken.is_empty()), Relaxed);
        !own.is_empty()
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
    fn new(id: usize) -> Self {
        READY.with(|ready| {
            assert_eq!(ready.base.replace(id * TASKS), NO_BASE, "an executor is already running on this thread");
        });
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        READY.with(|ready| {
            let mut left = ready.first.replace(END);
            while ready.take(&mut left).is_some() {}
            if thread::panicking() {
                // Of the turn that was under way, nobody knows any more who comes first.
                ready.next.iter().for_each(|next| next.set(IDLE));
            }
            ready.base.set(NO_BASE);
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
