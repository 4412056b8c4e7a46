//! One operation: one future held without any task around it, beside others of its type, which has been polled once and is pending.

use std::any::Any;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Waker};

use anyhow::Result;
use memory::{Climb, Counting, Tasks, by_touch, hold};

fn hold_future(tasks: Tasks, climb: Climb) -> Result<()> {
    let fill = by_touch!(tasks.touch_bytes, fill);
    // The futures of each step, side by side.
    let mut vectors: Vec<Box<dyn Any>> = Vec::with_capacity(64);
    climb.add_futures(|held, next| {
        let (vector, future_bytes) = fill(next - held);
        vectors.push(vector);
        Ok(future_bytes)
    })
}

/// Makes so many and polls each once; the second is the size of one.
fn fill<const TOUCH_BYTES: usize>(count: usize) -> (Box<dyn Any>, usize) {
    // A boxed slice is a vector without room to spare.
    let mut futures: Box<[_]> = (0..count).map(|_| hold::<TOUCH_BYTES>()).collect();
    let future_bytes = size_of_val(&futures[0]);
    let mut context = Context::from_waker(Waker::noop());
    for future in &mut futures {
        // SAFETY: from here on nobody can move it. The slice owns it, is never handed out by value, and is dropped in its place.
        let pinned = unsafe { Pin::new_unchecked(future) };
        assert!(pinned.poll(&mut context).is_pending());
    }
    (Box::new(futures), future_bytes)
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_future)
}
