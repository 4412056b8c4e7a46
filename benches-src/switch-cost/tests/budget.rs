//! What a page says of tokio's mutex by its source is so in the version that is measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Builder;
use tokio::sync::Mutex;

/// So many operations a task may do in one turn.
const BUDGET: usize = 128;

#[test]
fn a_task_gives_way_with_the_lock_in_its_hands_once_its_budget_is_used_up() {
    assert!(!finds_it_locked_after(BUDGET), "it is not made to give way before");
    assert!(finds_it_locked_after(BUDGET + 1));
}

/// Whether a second task comes to its first turn while a first, which locks and unlocks so many times and awaits nothing inside, has the lock.
fn finds_it_locked_after(locks: usize) -> bool {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (mutex, found_locked) = (Arc::new(Mutex::new(0)), Arc::new(AtomicBool::new(false)));
    let (same, found) = (mutex.clone(), found_locked.clone());
    let first = runtime.spawn(async move {
        for _ in 0..locks {
            *mutex.lock().await += 1;
        }
    });
    let second = runtime.spawn(async move { found.store(same.try_lock().is_err(), Ordering::Relaxed) });
    runtime.block_on(first).unwrap();
    runtime.block_on(second).unwrap();
    found_locked.load(Ordering::Relaxed)
}
