//! One operation: one wait of a thread for a message that does not come, until its timeout fires. Its time is how late that is.

use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fastrand::Rng;
use harness::{Clock, Nothing, Placement};

fn expire_thread(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let (_silent, messages) = channel::<u64>();
    let mut rng = Rng::with_seed(1);
    let mut fired = 0;
    clock.time(1, |laps| {
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            // Between one millisecond and two, so that timeouts end anywhere between two ticks of a clock that counts whole ones.
            let patience = Duration::from_nanos(rng.u64(1_000_000..2_000_000));
            let start = Instant::now();
            let silence = messages.recv_timeout(patience);
            let late = start.elapsed().checked_sub(patience).context("a timeout fired early")?;
            laps.took(late.as_nanos() as u64);
            fired += u64::from(silence == Err(RecvTimeoutError::Timeout));
        }
        Ok(())
    })?;
    Ok(fired)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), expire_thread)
}
