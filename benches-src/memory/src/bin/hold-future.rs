//! One operation: one future held without any task around it, beside others of its type, which has been polled once and is pending.

use std::any::Any;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Waker};

use anyhow::Result;
use memory::{Climb, Tasks, Units, by_touch, hold};

struct HoldFuture {
    fill: fn(usize) -> (Box<dyn Any>, usize),
    /// The futures of each step, side by side.
    vectors: Vec<Box<dyn Any>>,
    future_bytes: Option<usize>,
}

impl Units for HoldFuture {
    type Parameters = Tasks;

    fn set_up(parameters: &Tasks) -> Result<Self> {
        let vectors = Vec::with_capacity(64);
        Ok(Self { fill: by_touch!(parameters.touch_bytes, fill), vectors, future_bytes: None })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        let (vector, future_bytes) = (self.fill)(count);
        self.vectors.push(vector);
        self.future_bytes = Some(future_bytes);
        Ok(())
    }

    fn future_bytes(&self) -> Option<usize> {
        self.future_bytes
    }
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

fn main() -> ExitCode {
    harness::once::<Climb<HoldFuture>>(harness::name!())
}
