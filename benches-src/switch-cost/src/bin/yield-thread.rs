//! One operation: one `sched_yield` by one of several threads that do nothing else.

use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::thread;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::Crowd;

fn yield_thread(crowd: Crowd, placement: Placement, clock: Clock) -> Result<u64> {
    let (end, ends) = channel();
    let start_member = |index: u64| {
        let (start, started) = channel();
        let end = end.clone();
        thread::Builder::new().spawn(move || {
            placement.pin_participant(index as usize).expect("the placement was applied before");
            for () in started {
                let mut yielded = 0;
                for _ in 0..crowd.each {
                    thread::yield_now();
                    yielded += 1;
                }
                end.send(yielded).expect("the driver waits");
            }
        })?;
        Ok(start)
    };
    let starts: Vec<_> = (0..crowd.members).map(start_member).collect::<Result<_>>()?;
    // The members alone have it now, so that the driver hears of it when all of them have left.
    drop(end);
    let mut yielded = 0;
    clock.time(crowd.members * crowd.each, |laps| {
        for () in laps {
            starts.iter().try_for_each(|start| start.send(()))?;
            for _ in &starts {
                yielded += ends.recv()?;
            }
        }
        Ok(())
    })?;
    Ok(yielded)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), yield_thread)
}
