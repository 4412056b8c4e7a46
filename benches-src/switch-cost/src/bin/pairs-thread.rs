//! One operation: one round trip of a number between the two threads of a pair, over channels with room for one, while other pairs do the same.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::Crowd;

struct PairsThread {
    starts: Vec<Sender<()>>,
    ends: Receiver<u64>,
    crowd: Crowd,
    trips: u64,
}

impl Repeat for PairsThread {
    type Parameters = Crowd;

    fn set_up(parameters: &Crowd, placement: Placement) -> Result<Self> {
        let crowd = *parameters;
        let (end, ends) = channel();
        let starts = (0..crowd.members).map(|index| {
            let (start, started) = channel();
            let end = end.clone();
            let ((to, asked), (answer, from)) = (sync_channel(1), sync_channel(1));
            let place = move |of_pair| placement.pin_participant(2 * index as usize + of_pair);
            thread::Builder::new()
                .spawn(move || -> Result<()> { place(0).and_then(|()| answer_all(asked, answer)) })?;
            thread::Builder::new().spawn(move || -> Result<()> {
                place(1)?;
                for () in started {
                    for trip in 1..=crowd.each {
                        to.send(trip)?;
                        from.recv()?;
                    }
                    end.send(crowd.each)?;
                }
                Ok(())
            })?;
            Ok(start)
        });
        Ok(Self { starts: starts.collect::<Result<_>>()?, ends, crowd, trips: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.crowd.members * self.crowd.each
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.starts.iter().try_for_each(|start| start.send(()))?;
            for _ in &self.starts {
                self.trips += self.ends.recv()?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.trips)
    }
}

fn answer_all(asked: Receiver<u64>, answer: SyncSender<u64>) -> Result<()> {
    for trip in asked {
        answer.send(trip)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<PairsThread>(harness::name!())
}
