//! What all offramps tell together: that nothing was lost or reordered, and when a lap is done.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};

use super::{EVENTS, Event};

/// The next event of each pipeline, as one offramp expects it.
pub struct Checker(Vec<u64>);

impl Checker {
    /// Before the first event of so many pipelines.
    pub fn new(pipelines: u64) -> Self {
        Self(vec![0; pipelines as usize])
    }

    /// That this is the next one of its pipeline.
    pub fn check(&mut self, pipeline: usize, sequence: u64) -> Result<()> {
        let expected = &mut self.0[pipeline];
        ensure!(sequence == *expected, "pipeline {pipeline}: event {sequence} came where {expected} was expected");
        *expected += 1;
        Ok(())
    }
}

/// Counts what has arrived at all offramps, and calls somebody at the end of each lap.
pub struct Sink {
    arrived: AtomicU64,
    done: Box<dyn Fn() + Send + Sync>,
}

impl Sink {
    /// Calls `done` each time another lap's events have arrived.
    pub fn new(done: impl Fn() + Send + Sync + 'static) -> Self {
        Self { arrived: AtomicU64::new(0), done: Box::new(done) }
    }

    /// The third stage.
    pub fn take(&self, event: Event, checker: &mut Checker) -> Result<()> {
        checker.check(event.pipeline, event.sequence)?;
        black_box(event.encode()?);
        // What the offramps did before is done when the driver goes on.
        if (self.arrived.fetch_add(1, Ordering::AcqRel) + 1).is_multiple_of(EVENTS) {
            (self.done)();
        }
        Ok(())
    }

    /// How many have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_reordered_or_doubled_is_found() {
        let run = |sequences: &[u64]| {
            let mut checker = Checker::new(2);
            sequences.iter().try_for_each(|sequence| checker.check(1, *sequence))
        };
        assert!(run(&[0, 1, 2]).is_ok());
        assert_eq!(run(&[0, 2]).unwrap_err().to_string(), "pipeline 1: event 2 came where 1 was expected");
        assert!(run(&[1, 0]).is_err());
        assert!(run(&[0, 0]).is_err());
    }
}
