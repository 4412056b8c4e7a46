//! A single-threaded executor and a one-slot channel, small enough to be read: what remains of async when everything that
//! a general runtime adds is taken away. No `unsafe`.
//!
//! Wakers may be sent anywhere. Waking on the executor's own thread costs a push onto a queue that no other thread sees;
//! waking from elsewhere takes a lock and unparks the executor's thread.

#![forbid(unsafe_code)]

mod slot;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

pub use slot::{Receiver, Sender, channel};

/// Runs futures on the thread that calls [`Executor::block_on`].
pub struct Executor {
    id: u32,
    /// The first place belongs to the future that `block_on` is called with, and stays empty.
    tasks: RefCell<Vec<Task>>,
    /// Places whose task has ended.
    free: RefCell<Vec<u32>>,
    /// Spawned, and not yet in their places: a task may spawn others while all places are borrowed.
    spawned: RefCell<Vec<Spawned>>,
    any_spawned: Cell<bool>,
    /// See [`LINKS`], where they are while the executor runs.
    links: RefCell<Vec<u32>>,
    remote: Arc<Remote>,
}

type Spawned = Pin<Box<dyn Future<Output = ()>>>;

/// A place for a future.
struct Task {
    /// None once it has ended; its place is then used again.
    future: Option<Spawned>,
    waker: Waker,
}

/// What a waker points at: as little as tells tasks apart, since every task has one.
struct Handle {
    executor: u32,
    index: u32,
}

/// How other threads reach an executor.
#[derive(Default)]
struct Remote {
    woken: Mutex<Vec<u32>>,
    thread: Mutex<Option<Thread>>,
}

/// Every executor that lives, by its number. Only who wakes from elsewhere looks here.
static REMOTES: Mutex<BTreeMap<u32, Arc<Remote>>> = Mutex::new(BTreeMap::new());

/// The place of the future that `block_on` was called with; tasks count from 1.
const MAIN: u32 = 0;
/// Of nothing.
const NONE: u32 = u32::MAX;
/// The link of a task that does not wait behind another.
const NOT_BEHIND: u32 = u32::MAX - 1;

/// What runs on a thread. The queue of indices that can go on is in two parts, so that a queue of one is a single word:
/// `first`, and a list of what waits behind it, which is empty whenever `first` is none.
struct Local {
    executor: Cell<u32>,
    first: Cell<u32>,
    second: Cell<u32>,
    last: Cell<u32>,
}

thread_local! {
    static LOCAL: Local = const {
        Local { executor: Cell::new(0), first: Cell::new(NONE), second: Cell::new(NONE), last: Cell::new(NONE) }
    };
    /// By index, who comes next behind the first: the queue is a list through this table, and takes no memory of its own.
    static LINKS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

impl Local {
    /// Queues it, unless it is queued already.
    #[inline]
    fn push(&self, index: u32) {
        if self.first.get() == NONE {
            self.first.set(index);
        } else if self.first.get() != index {
            self.push_behind(index);
        }
    }

    #[inline(never)]
    fn push_behind(&self, index: u32) {
        LINKS.with_borrow_mut(|links| {
            if links[index as usize] != NOT_BEHIND {
                return;
            }
            links[index as usize] = NONE;
            if self.second.get() == NONE {
                self.second.set(index);
            } else {
                links[self.last.get() as usize] = index;
            }
            self.last.set(index);
        });
    }

    #[inline]
    fn pop(&self) -> u32 {
        let index = self.first.replace(NONE);
        if self.second.get() != NONE {
            self.move_up();
        }
        index
    }

    #[inline(never)]
    fn move_up(&self) {
        let index = self.second.get();
        self.first.set(index);
        self.second.set(LINKS.with_borrow_mut(|links| std::mem::replace(&mut links[index as usize], NOT_BEHIND)));
    }
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        LOCAL.with(
            |local| if local.executor.get() == self.executor { local.push(self.index) } else { self.wake_remote() },
        );
    }
}

const UNPOISONED: &str = "nobody panics while holding it";

impl Handle {
    #[cold]
    fn wake_remote(&self) {
        // A waker may outlive its executor.
        let Some(remote) = REMOTES.lock().expect(UNPOISONED).get(&self.executor).cloned() else { return };
        remote.woken.lock().expect(UNPOISONED).push(self.index);
        if let Some(thread) = &*remote.thread.lock().expect(UNPOISONED) {
            thread.unpark();
        }
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Executor {
    /// An executor without tasks.
    pub fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let id = LAST.fetch_add(1, Relaxed).checked_add(1).expect("fewer than 2³² executors in a process");
        let remote = Arc::<Remote>::default();
        REMOTES.lock().expect(UNPOISONED).insert(id, remote.clone());
        let main = Task::place(id, MAIN);
        Self {
            id,
            tasks: RefCell::new(vec![main]),
            free: RefCell::default(),
            spawned: RefCell::default(),
            any_spawned: Cell::new(false),
            links: RefCell::new(vec![NOT_BEHIND]),
            remote,
        }
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
        let waker = tasks[MAIN as usize].waker.clone();
        waker.wake_by_ref();
        LOCAL.with(|local| {
            loop {
                if self.any_spawned.get() {
                    self.find_places(&mut tasks);
                }
                match local.pop() {
                    NONE => self.wait(local),
                    MAIN => {
                        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                            return value;
                        }
                    }
                    index => {
                        if tasks[index as usize].poll().is_ready() {
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
        let (spawned, mut free) = (self.spawned.take(), self.free.borrow_mut());
        let new = spawned.len().saturating_sub(free.len());
        LINKS.with_borrow_mut(|links| {
            make_room(tasks, new);
            make_room(links, new);
            links.resize(tasks.len() + new, NOT_BEHIND);
        });
        for future in spawned {
            let index = free.pop().unwrap_or_else(|| {
                let index = u32::try_from(tasks.len()).ok().filter(|index| *index < NOT_BEHIND);
                let index = index.expect("fewer than 2³² tasks");
                tasks.push(Task::place(self.id, index));
                index
            });
            let task = &mut tasks[index as usize];
            task.future = Some(future);
            task.waker.wake_by_ref();
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
}

impl Drop for Executor {
    fn drop(&mut self) {
        REMOTES.lock().expect(UNPOISONED).remove(&self.id);
    }
}

/// Grows by what is needed, or by a sixteenth: a vector's own doubling would leave up to half of it unused.
fn make_room<T>(table: &mut Vec<T>, new: usize) {
    if table.capacity() - table.len() < new {
        table.reserve_exact(new.max(table.len() / 16).max(4));
    }
}

impl Task {
    /// A place without a future.
    fn place(executor: u32, index: u32) -> Self {
        Self { future: None, waker: Waker::from(Arc::new(Handle { executor, index })) }
    }

    #[inline]
    fn poll(&mut self) -> Poll<()> {
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
            local.executor.set(executor.id);
        });
        LINKS.with_borrow_mut(|links| std::mem::swap(links, &mut executor.links.borrow_mut()));
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
        LINKS.with_borrow_mut(|links| std::mem::swap(links, &mut self.0.links.borrow_mut()));
        *self.0.remote.thread.lock().expect(UNPOISONED) = None;
    }
}
