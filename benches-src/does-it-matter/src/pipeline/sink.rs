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

/// Counts what has arrived at all offramps, and tells somebody when a lap is done, or that it cannot be.
pub struct Sink {
    arrived: AtomicU64,
    tell: Box<dyn Fn(Done) + Send + Sync>,
}

/// The end of a lap, or what is wrong.
pub type Done = Result<(), String>;

impl Sink {
    /// Tells each time another lap's events have arrived, and of the first that should not have.
    pub fn new(tell: impl Fn(Done) + Send + Sync + 'static) -> Self {
        Self { arrived: AtomicU64::new(0), tell: Box::new(tell) }
    }

    /// The third stage.
    pub fn take(&self, event: Event, checker: &mut Checker) -> Result<()> {
        checker.check(event.pipeline, event.sequence).and_then(|()| event.encode()).map(black_box).inspect_err(
            // Whoever waits for the lap would wait for ever.
            |error| (self.tell)(Err(format!("{error:#}"))),
        )?;
        // What the offramps did before is done when the driver goes on.
        if (self.arrived.fetch_add(1, Ordering::AcqRel) + 1).is_multiple_of(EVENTS) {
            (self.tell)(Ok(()));
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
    use crate::order::Order;
    use crate::pipeline::Onramp;

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

    #[test]
    fn whoever_waits_for_a_lap_is_told_what_is_wrong() {
        let (tell, told) = std::sync::mpsc::channel();
        let sink = Sink::new(move |done| tell.send(done).unwrap());
        let (mut onramp, mut checker) = (Onramp::new(0, Order::of_bytes(1, 0).to_json().into()), Checker::new(1));
        let mut next = || onramp.decode().unwrap();
        assert!(sink.take(next(), &mut checker).is_err(), "it was not transformed");
        assert_eq!(told.recv().unwrap().unwrap_err(), "an event has passed by its pipeline");
        let _lost = next();
        let mut event = next();
        event.transform();
        assert!(sink.take(event, &mut checker).is_err());
        assert_eq!(told.recv().unwrap().unwrap_err(), "pipeline 0: event 2 came where 1 was expected");
        assert_eq!(sink.arrived(), 0);
    }
}
