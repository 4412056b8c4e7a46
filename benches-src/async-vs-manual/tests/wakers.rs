//! What the contract of wakers demands of each kind: that they may outlive their task and its executor, and what becomes of them on
//! another thread. Also for Miri: cargo miri test -p async-vs-manual --test wakers

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, Ready, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use async_vs_manual::tasks::{Boxes, Handle, Tasks};
use async_vs_manual::wakers::{EachArc, EachCheckedRc, EachRc, Embedded, Wakers};

/// A task that keeps its waker where the test can take it, and ends when told to.
async fn waits(kept: Rc<RefCell<Option<Waker>>>, told: Rc<Cell<bool>>) {
    poll_fn(|context| {
        *kept.borrow_mut() = Some(context.waker().clone());
        if told.get() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn nothing_arrives() -> Option<Infallible> {
    None
}

fn nothing_is_made(never: Infallible) -> Ready<()> {
    match never {}
}

/// Runs one task until it has waited and been woken; gives back a waker that has outlived it.
fn outlived(kind: impl Wakers) -> Waker {
    let (kept, told) = (Rc::<RefCell<Option<Waker>>>::default(), Rc::<Cell<bool>>::default());
    let mut tasks = Boxes::new(kind);
    tasks.spawn(waits(kept.clone(), told.clone()));
    tasks.run(nothing_arrives, nothing_is_made, || {
        told.set(true);
        let waker = kept.borrow().clone().unwrap();
        waker.wake_by_ref();
        waker.wake();
    });
    kept.take().unwrap()
}

fn rc() -> EachRc {
    // SAFETY: no test moves one of these to another thread.
    unsafe { EachRc::promised() }
}

#[test]
fn a_waker_may_outlive_its_task_and_its_executor() {
    for waker in [outlived(Embedded), outlived(EachArc), outlived(EachCheckedRc), outlived(rc())] {
        waker.wake_by_ref();
        let another = waker.clone();
        another.wake();
        assert!(waker.will_wake(&waker.clone()));
    }
}

#[test]
fn a_task_is_polled_no_more_than_once_for_many_wake_ups() {
    let polls = Cell::new(0);
    let kept = RefCell::new(None);
    let mut tasks = Tasks::new(Embedded);
    tasks.spawn(|| {
        poll_fn(|context| {
            polls.set(polls.get() + 1);
            *kept.borrow_mut() = Some(context.waker().clone());
            if polls.get() == 3 { Poll::Ready(()) } else { Poll::Pending }
        })
    });
    tasks.run(
        nothing_arrives,
        |never| match never {},
        || (0..5).for_each(|_| kept.borrow().as_ref().unwrap().wake_by_ref()),
    );
    assert_eq!(polls.get(), 3);
}

#[test]
fn a_waker_of_another_executor_wakes_nobody_here() {
    let polls = Cell::new(0);
    let others = [outlived(Embedded), outlived(EachArc)];
    let (kept, told) = (Rc::<RefCell<Option<Waker>>>::default(), Rc::<Cell<bool>>::default());
    let mut tasks = Boxes::new(Embedded);
    tasks.spawn(async {
        let waiting = &mut std::pin::pin!(waits(kept.clone(), told.clone()));
        poll_fn(|context| {
            polls.set(polls.get() + 1);
            waiting.as_mut().poll(context)
        })
        .await;
    });
    let turns = Cell::new(0);
    tasks.run(nothing_arrives, nothing_is_made, || {
        others.iter().for_each(Waker::wake_by_ref);
        turns.set(turns.get() + 1);
        if turns.get() == 3 {
            told.set(true);
            kept.borrow().as_ref().unwrap().wake_by_ref();
        }
    });
    assert_eq!((turns.get(), polls.get()), (3, 2), "only its own waker let it go on");
}

#[test]
fn what_is_woken_of_an_executor_on_another_thread_keeps_nobody_here_busy() {
    let (sends_waker, receives_waker) = mpsc::channel();
    let (sends_end, receives_end) = mpsc::channel();
    let elsewhere = thread::spawn(move || {
        let (kept, told) = (Rc::<RefCell<Option<Waker>>>::default(), Rc::<Cell<bool>>::default());
        let mut tasks = Boxes::new(Embedded);
        tasks.spawn(waits(kept.clone(), told.clone()));
        tasks.run(nothing_arrives, nothing_is_made, || {
            sends_waker.send(kept.take().unwrap()).unwrap();
            receives_end.recv().unwrap();
            told.set(true);
        });
    });
    let others = receives_waker.recv().unwrap();
    let (kept, told) = (Rc::<RefCell<Option<Waker>>>::default(), Rc::<Cell<bool>>::default());
    let (mut tasks, turns) = (Boxes::new(Embedded), Cell::new(0));
    tasks.spawn(waits(kept.clone(), told.clone()));
    tasks.run(nothing_arrives, nothing_is_made, || {
        turns.set(turns.get() + 1);
        others.wake_by_ref();
        if turns.get() == 2 {
            told.set(true);
            kept.take().unwrap().wake();
        }
    });
    assert_eq!(turns.get(), 2, "what was woken is not of this executor");
    sends_end.send(()).unwrap();
    elsewhere.join().unwrap();
}

#[test]
fn another_thread_may_wake_a_task_whose_waker_is_counted_atomically() {
    fn wakes_from_elsewhere(kind: impl Wakers) {
        let (kept, told) = (Rc::<RefCell<Option<Waker>>>::default(), Rc::<Cell<bool>>::default());
        let mut tasks = Boxes::new(kind);
        tasks.spawn(waits(kept.clone(), told.clone()));
        tasks.run(nothing_arrives, nothing_is_made, || {
            told.set(true);
            let waker = kept.borrow_mut().take().unwrap();
            thread::spawn(move || waker.wake()).join().unwrap();
        });
    }
    wakes_from_elsewhere(Embedded);
    wakes_from_elsewhere(EachArc);
}

#[test]
fn a_checked_waker_panics_on_another_thread_and_works_on_at_home() {
    let waker = outlived(EachCheckedRc);
    let misuses: [fn(Waker); 4] = [Waker::wake, |waker| waker.wake_by_ref(), |waker| drop(waker.clone()), drop];
    for misuse in misuses {
        let taken = waker.clone();
        assert!(thread::spawn(move || misuse(taken)).join().is_err());
    }
    waker.wake();
}

#[test]
fn a_task_is_known_to_its_executor_unless_another_waker_hides_it() {
    let seen = RefCell::new(Vec::new());
    let mut tasks = Boxes::new(Embedded);
    for _ in 0..2 {
        tasks.spawn(poll_fn(|context| {
            let hidden = Handle::of(&std::task::Context::from_waker(Waker::noop()));
            seen.borrow_mut().push((Handle::of(context), hidden));
            Poll::Ready(())
        }));
    }
    tasks.run(nothing_arrives, nothing_is_made, || unreachable!("nobody waits"));
    drop(tasks);
    let seen = seen.into_inner();
    assert!(seen.iter().all(|(known, hidden)| known.is_some() && hidden.is_none()), "{seen:?}");
    assert_ne!(seen[0].0, seen[1].0);
    assert_eq!(Handle::of(&std::task::Context::from_waker(Waker::noop())), None, "nobody is polled here");
}

#[test]
fn futures_end_where_they_stand() {
    struct Says<'a>(&'a Cell<u32>);
    impl Drop for Says<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Cell::new(0);
    let says = Says(&dropped);
    let mut tasks = Boxes::new(Embedded);
    tasks.spawn(async move { drop(says) });
    tasks.run(nothing_arrives, nothing_is_made, || unreachable!("nobody waits"));
    assert_eq!(dropped.get(), 1, "the first poll is the last");
    let never: Pin<Box<dyn Future<Output = ()>>> = Box::pin(std::future::pending());
    let held = Says(&dropped);
    tasks.spawn(async move {
        never.await;
        drop(held);
    });
    drop(tasks);
    assert_eq!(dropped.get(), 2, "with its executor");
}

#[test]
fn after_a_panic_another_executor_may_use_the_same_places() {
    let mut tasks = Boxes::new(Embedded);
    tasks.spawn(async {});
    // It goes on first, so that the other is still in the queue.
    tasks.spawn(async { panic!("as it was told to") });
    let run = AssertUnwindSafe(|| tasks.run(nothing_arrives, nothing_is_made, || unreachable!("nobody waits")));
    assert!(catch_unwind(run).is_err());
    let polled = Cell::new(0);
    let mut tasks = Boxes::new(Embedded);
    for _ in 0..2 {
        tasks.spawn(async { polled.set(polled.get() + 1) });
    }
    tasks.run(nothing_arrives, nothing_is_made, || unreachable!("nobody waits"));
    assert_eq!(polled.get(), 2);
}

#[test]
fn what_arrives_begins_before_the_next_task_goes_on() {
    let (began, to_come) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let mut tasks = Boxes::new(Embedded);
    tasks.spawn(async { began.borrow_mut().push("the other") });
    tasks.spawn(async {
        began.borrow_mut().push("one");
        to_come.borrow_mut().push("what arrived");
    });
    let made = |name| {
        let began = &began;
        async move { began.borrow_mut().push(name) }
    };
    tasks.run(|| to_come.borrow_mut().pop(), made, || unreachable!("nobody waits"));
    assert_eq!(*began.borrow(), ["one", "what arrived", "the other"]);
}
