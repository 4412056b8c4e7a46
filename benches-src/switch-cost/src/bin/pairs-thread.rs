//! One operation: one round trip of a number between the two threads of a pair, over channels with room for one, while other pairs do the same.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use anyhow::Result;
use harness::{Clock, Placement};
use switch_cost::Crowd;

fn pairs_thread(crowd: Crowd, placement: Placement, clock: Clock) -> Result<u64> {
    let (end, ends) = channel();
    let start_pair = |index: u64| {
        let (start, started) = channel();
        let end = end.clone();
        let ((to, asked), (answer, from)) = (sync_channel(1), sync_channel(1));
        let place = move |of_pair| placement.pin_participant(2 * index as usize + of_pair);
        thread::Builder::new().spawn(move || place(0).and_then(|()| answer_all(asked, answer)))?;
        thread::Builder::new().spawn(move || {
            place(1)?;
            for () in started {
                let mut trips = 0;
                for trip in 1..=crowd.each {
                    to.send(trip)?;
                    from.recv()?;
                    trips += 1;
                }
                end.send(trips)?;
            }
            anyhow::Ok(())
        })?;
        Ok(start)
    };
    let starts: Vec<_> = (0..crowd.members).map(start_pair).collect::<Result<_>>()?;
    // The pairs alone have it now, so that the driver hears of it when all of them have left.
    drop(end);
    let mut trips = 0;
    clock.time(crowd.members * crowd.each, |laps| {
        for () in laps {
            starts.iter().try_for_each(|start| start.send(()))?;
            for _ in &starts {
                trips += ends.recv()?;
            }
        }
        Ok(())
    })?;
    Ok(trips)
}

fn answer_all(asked: Receiver<u64>, answer: SyncSender<u64>) -> Result<()> {
    for trip in asked {
        answer.send(trip)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), pairs_thread)
}
