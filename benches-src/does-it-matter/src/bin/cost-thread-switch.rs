//! One operation: one hop of a number between two threads, each blocking in `recv` on a bounded channel of the standard library.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Result, ensure};
use harness::{Clock, Nothing, Placement};

fn cost_thread_switch(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    let (there, from) = sync_channel(1);
    let (to, back) = sync_channel(1);
    placement.pin_participant(0)?;
    let other = thread::spawn(move || {
        placement.pin_participant(1)?;
        pass_back(&from, &to)
    });
    let mut passed = 0;
    clock.time(2, |laps| {
        for () in laps {
            there.send(passed)?;
            ensure!(back.recv()? == passed, "another number came back");
            passed += 1;
        }
        Ok(())
    })?;
    drop(there);
    Ok(passed + other.join().expect("it does not panic")?)
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
    harness::repeat(harness::name!(), cost_thread_switch)
}
