//! One operation: one lock of the standard library's mutex by one of several threads, one added to the number inside, and one unlock.

use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::Crowd;

fn lock_thread(crowd: Crowd, placement: Placement, clock: Clock) -> Result<u64> {
    let number = Arc::new(Mutex::new(0));
    let (end, ends) = channel();
    let start_member = |index: u64| {
        let (start, started) = channel();
        let (end, number) = (end.clone(), number.clone());
        thread::Builder::new().spawn(move || {
            placement.pin_participant(index as usize).expect("the placement was applied before");
            for () in started {
                for _ in 0..crowd.each {
                    let mut number = number.lock().expect("no member panics");
                    *number += 1;
                }
                end.send(()).expect("the driver waits");
            }
        })?;
        Ok(start)
    };
    let starts: Vec<_> = (0..crowd.members).map(start_member).collect::<Result<_>>()?;
    drop(end); // The members alone have it now, so that the driver hears of it when all of them have left.
    clock.time(crowd.members * crowd.each, |laps| {
        for () in laps {
            starts.iter().try_for_each(|start| start.send(()))?;
            starts.iter().try_for_each(|_| ends.recv())?;
        }
        Ok(())
    })?;
    let added = *number.lock().expect("no member panics"); // Had two been inside at once, some would be missing.
    Ok(added)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), lock_thread)
}
