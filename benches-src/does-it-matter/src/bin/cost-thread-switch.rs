//! One operation: one hop of a number between two threads, each blocking in `recv` on a bounded channel of the standard library.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::{Result, ensure};
use harness::{Laps, Nothing, Placement, Repeat};

struct CostThreadSwitch {
    there: SyncSender<u64>,
    back: Receiver<u64>,
    other: JoinHandle<Result<u64>>,
    passed: u64,
}

impl Repeat for CostThreadSwitch {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        let (there, from) = sync_channel(1);
        let (to, back) = sync_channel(1);
        placement.pin_participant(0)?;
        let other = thread::spawn(move || {
            placement.pin_participant(1)?;
            pass_back(&from, &to)
        });
        Ok(Self { there, back, other, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        2
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.there.send(self.passed)?;
            ensure!(self.back.recv()? == self.passed, "another number came back");
            self.passed += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.there);
        Ok(self.passed + self.other.join().expect("it does not panic")?)
    }
}

fn pass_back(from: &Receiver<u64>, to: &SyncSender<u64>) -> Result<u64> {
    let mut passed = 0;
    while let Ok(number) = from.recv() {
        to.send(number)?;
        passed += 1;
    }
    Ok(passed)
}

fn main() -> ExitCode {
    harness::repeat::<CostThreadSwitch>(harness::name!())
}
