//! What the executor and its channel promise.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use executor::{Executor, channel};

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn block_on_returns_the_value() {
    assert_eq!(Executor::new().block_on(ready(7)), 7);
}

#[test]
fn tasks_run_in_the_order_in_which_they_are_woken_and_take_turns() {
    let executor = Executor::new();
    let order = Rc::new(RefCell::new(Vec::new()));
    for name in ["a", "b"] {
        let order = order.clone();
        executor.spawn(async move {
            for turn in 0..2 {
                order.borrow_mut().push((name, turn));
                yield_once().await;
            }
        });
    }
    executor.block_on(async {
        for _ in 0..4 {
            yield_once().await;
        }
    });
    assert_eq!(*order.borrow(), [("a", 0), ("b", 0), ("a", 1), ("b", 1)]);
}

#[test]
fn a_task_may_spawn_others() {
    let executor = Rc::new(Executor::new());
    let count = Rc::new(Cell::new(0));
    let (inner, counted) = (executor.clone(), count.clone());
    executor.spawn(async move {
        for _ in 0..3 {
            let counted = counted.clone();
            inner.spawn(async move { counted.set(counted.get() + 1) });
            yield_once().await;
        }
    });
    executor.block_on(async {
        while count.get() < 3 {
            yield_once().await;
        }
    });
}

#[test]
fn work_left_over_goes_on_in_the_next_block_on() {
    let executor = Executor::new();
    let (mut sender, mut receiver) = channel();
    executor.spawn(async move {
        for value in 0.. {
            if sender.send(value).await.is_err() {
                break;
            }
        }
    });
    assert_eq!(executor.block_on(receiver.recv()), Some(0));
    assert_eq!(executor.block_on(receiver.recv()), Some(1));
    assert_eq!(executor.block_on(receiver.recv()), Some(2));
}

#[test]
fn a_channel_holds_one_value_and_ends_with_either_side() {
    let executor = Executor::new();
    let (mut sender, mut receiver) = channel();
    executor.block_on(async {
        sender.send(1).await.unwrap();
        let full = poll_fn(|context| Poll::Ready(std::pin::pin!(sender.send(2)).poll(context).is_pending())).await;
        assert!(full, "there is no room for a second value");
        drop(sender);
        assert_eq!(receiver.recv().await, Some(1), "what was sent is still received");
        assert_eq!(receiver.recv().await, None);
        let (mut sender, receiver) = channel();
        drop(receiver);
        assert_eq!(sender.send(3).await, Err(3));
    });
}

use std::future::Future;

#[test]
fn another_thread_can_wake_a_task_that_the_executor_sleeps_on() {
    let executor = Executor::new();
    let (wakers, waker) = mpsc::channel::<Waker>();
    let waking = thread::spawn(move || waker.into_iter().for_each(Waker::wake));
    for _ in 0..1000 {
        let mut asked = false;
        executor.block_on(poll_fn(|context| {
            if asked {
                return Poll::Ready(());
            }
            asked = true;
            wakers.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
    }
    drop(wakers);
    waking.join().unwrap();
}

#[test]
fn a_waker_may_outlive_its_task_and_its_executor() {
    let executor = Executor::new();
    let kept = Rc::new(RefCell::new(None));
    let keep = kept.clone();
    executor.spawn(poll_fn(move |context| {
        *keep.borrow_mut() = Some(context.waker().clone());
        Poll::Ready(())
    }));
    executor.block_on(yield_once());
    let waker: Waker = kept.borrow_mut().take().unwrap();
    waker.wake_by_ref();
    executor.block_on(yield_once());
    drop(executor);
    waker.wake();
}

#[test]
fn one_executor_to_a_thread() {
    let (outer, inner) = (Executor::new(), Executor::new());
    let nested = catch_unwind(AssertUnwindSafe(|| outer.block_on(async { inner.block_on(ready(1)) })));
    assert!(nested.is_err());
    assert_eq!(outer.block_on(ready(2)), 2, "the panic left nothing behind");
}

#[test]
fn tasks_that_never_end_are_dropped_with_the_executor() {
    let alive = Rc::new(());
    let executor = Executor::new();
    let held = alive.clone();
    executor.spawn(async move {
        let _held = held;
        pending::<()>().await;
    });
    executor.block_on(yield_once());
    assert_eq!(Rc::strong_count(&alive), 2);
    drop(executor);
    assert_eq!(Rc::strong_count(&alive), 1);
}

#[test]
fn a_task_that_is_woken_often_is_queued_once() {
    let executor = Executor::new();
    let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
    let polls = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let (wakers, polls) = (wakers.clone(), polls.clone());
        executor.spawn(poll_fn(move |context| {
            wakers.borrow_mut().push(context.waker().clone());
            polls.set(polls.get() + 1);
            Poll::Pending
        }));
    }
    executor.block_on(async {
        yield_once().await;
        assert_eq!(polls.get(), 3);
        let wakers: Vec<Waker> = wakers.take();
        (0..4).for_each(|_| wakers.iter().for_each(Waker::wake_by_ref));
        yield_once().await;
        yield_once().await;
    });
    assert_eq!(polls.get(), 6);
}
