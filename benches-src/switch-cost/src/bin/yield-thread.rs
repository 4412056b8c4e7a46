//! One operation: one `sched_yield` by one of several threads that do nothing else.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::Crowd;

struct YieldThread {
    starts: Vec<Sender<()>>,
    ends: Receiver<u64>,
    crowd: Crowd,
    yields: u64,
}

impl Repeat for YieldThread {
    type Parameters = Crowd;

    fn set_up(parameters: &Crowd, placement: Placement) -> Result<Self> {
        let crowd = *parameters;
        let (end, ends) = channel();
        let starts = (0..crowd.members).map(|index| {
            let (start, started) = channel();
            let end = end.clone();
            thread::Builder::new().spawn(move || {
                placement.pin_participant(index as usize).expect("the placement was applied before");
                for () in started {
                    (0..crowd.each).for_each(|_| thread::yield_now());
                    end.send(crowd.each).expect("the driver waits");
                }
            })?;
            Ok(start)
        });
        Ok(Self { starts: starts.collect::<Result<_>>()?, ends, crowd, yields: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.crowd.members * self.crowd.each
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.starts.iter().try_for_each(|start| start.send(()))?;
            for _ in &self.starts {
                self.yields += self.ends.recv()?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.yields)
    }
}

fn main() -> ExitCode {
    harness::repeat::<YieldThread>(harness::name!())
}
