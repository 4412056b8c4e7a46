//! What is promised of these tasks: that their wakers may outlive them and their run, what becomes of these on another thread, and where
//! futures are dropped. Also for Miri: cargo miri test -p async-vs-manual --bin arc-task

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Ready, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;

use async_vs_manual::fake::Network;
use async_vs_manual::server::REQUESTS;
use async_vs_manual::{Load, Loaded, check};

use super::{arc_task, tasks::run};

type Kept = RefCell<Option<Waker>>;

/// A task that keeps its waker where the test can take it, and ends when told to.
async fn waits(kept: &Kept, told: &Cell<bool>) {
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
fn outlived() -> Waker {
    let (kept, told) = (Kept::default(), Cell::new(false));
    run(waits(&kept, &told), nothing_arrives, nothing_is_made, || {
        told.set(true);
        let waker = kept.borrow().clone().unwrap();
        waker.wake_by_ref();
        waker.wake();
    });
    kept.take().unwrap()
}

#[test]
fn it_makes_the_calls_that_every_server_makes() {
    const LAPS: u64 = 2;
    if cfg!(miri) {
        return; // It would take minutes, and the other tests come by every promise.
    }
    let network = Network::new(Load::new(Loaded::default()).unwrap());
    arc_task(&network, (0..LAPS).map(|_| ()));
    let counts = network.counts().by_name();
    check(&counts, LAPS).unwrap();
    assert_eq!(counts["answered"], LAPS * u64::from(REQUESTS));
}

#[test]
fn a_waker_may_outlive_its_task_and_its_run() {
    let waker = outlived();
    waker.wake_by_ref();
    let another = waker.clone();
    assert!(waker.will_wake(&another));
    another.wake();
    thread::spawn(move || waker.wake()).join().unwrap();
}

#[test]
fn a_waker_of_another_run_wakes_nobody_here() {
    let (other, kept, told, turns) = (outlived(), Kept::default(), Cell::new(false), Cell::new(0));
    run(waits(&kept, &told), nothing_arrives, nothing_is_made, || {
        turns.set(turns.get() + 1);
        other.wake_by_ref();
        if turns.get() == 3 {
            told.set(true);
            kept.borrow().as_ref().unwrap().wake_by_ref();
        }
    });
    assert_eq!(turns.get(), 3, "only its own waker let it go on");
}

#[test]
fn another_thread_may_wake_a_task() {
    let (kept, told) = (Kept::default(), Cell::new(false));
    run(waits(&kept, &told), nothing_arrives, nothing_is_made, || {
        told.set(true);
        let waker = kept.take().unwrap();
        thread::spawn(move || (waker.wake_by_ref(), waker.wake())).join().unwrap();
    });
    assert!(told.get());
}

#[test]
fn the_last_reference_may_go_on_another_thread() {
    let (kept, here) = (Kept::default(), Rc::new(()));
    let held = here.clone();
    run(
        async {
            poll_fn(|context| {
                *kept.borrow_mut() = Some(context.waker().clone());
                Poll::Ready(())
            })
            .await;
            drop(held);
        },
        nothing_arrives,
        nothing_is_made,
        || unreachable!("nobody waits"),
    );
    assert_eq!(Rc::strong_count(&here), 1, "its future was dropped here, when it ended");
    let waker = kept.take().unwrap();
    thread::spawn(move || drop(waker)).join().unwrap();
}

#[test]
fn a_task_is_polled_no_more_than_once_for_many_wake_ups_and_never_after_its_end() {
    let (polls, kept) = (Cell::new(0), Kept::default());
    let first = poll_fn(|context| {
        polls.set(polls.get() + 1);
        *kept.borrow_mut() = Some(context.waker().clone());
        // So that it is in the queue when it ends.
        context.waker().wake_by_ref();
        if polls.get() == 3 { Poll::Ready(()) } else { Poll::Pending }
    });
    run(first, nothing_arrives, nothing_is_made, || unreachable!("it wakes itself"));
    (0..5).for_each(|_| kept.borrow().as_ref().unwrap().wake_by_ref());
    assert_eq!(polls.get(), 3);
}

#[test]
fn what_arrives_becomes_tasks_of_the_same_run() {
    let (arrived, answered) = (RefCell::new(Vec::new()), Cell::new(0));
    let first = async { arrived.borrow_mut().extend(1..=40) };
    let make = |number: u32| {
        let answered = &answered;
        async move { answered.set(answered.get() + number) }
    };
    run(first, || arrived.borrow_mut().pop(), make, || unreachable!("nobody waits"));
    assert_eq!(answered.get(), 820, "the sum of 1 to 40");
}

#[test]
fn after_a_panic_its_tasks_are_left_alone_and_another_run_may_begin() {
    let kept = Kept::default();
    let to_come = RefCell::new(vec!["panics", "waits"]);
    let make = |what| {
        let kept = &kept;
        async move {
            waits(kept, &Cell::new(what == "panics")).await;
            panic!("as it was told to");
        }
    };
    let ready = std::future::ready(());
    let result = catch_unwind(AssertUnwindSafe(|| {
        run(ready, || to_come.borrow_mut().pop(), make, || unreachable!("one panics first"));
    }));
    assert!(result.is_err());
    let left = kept.take().expect("one waits");
    run(async { left.wake_by_ref() }, nothing_arrives, nothing_is_made, || unreachable!("nobody waits"));
    left.wake();
}
