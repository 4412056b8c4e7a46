//! One operation: one thread held, created or switched to, as goroutines and tasks are beside it.

use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use memory::rival::{self, Rival, timed};
use resources::reserve_threads;

struct Threads;

impl Rival for Threads {
    fn hold(&mut self, more: u64) -> Result<()> {
        reserve_threads(more as usize)?;
        let started = Arc::new(Barrier::new(more as usize + 1));
        for _ in 0..more {
            let started = started.clone();
            thread::Builder::new().spawn(move || {
                started.wait();
                // It may return without a reason.
                loop {
                    thread::park();
                }
            })?;
        }
        started.wait();
        Ok(())
    }

    fn create(&mut self, count: u64) -> Result<Duration> {
        timed(|| {
            for _ in 0..count {
                thread::Builder::new().spawn(|| ())?.join().expect("it does not panic");
            }
            Ok(())
        })
    }

    fn hop(&mut self, count: u64) -> Result<Duration> {
        let ((there, came), (back, returned)) = (sync_channel(1), sync_channel(1));
        let other = thread::Builder::new().spawn(move || came.iter().try_for_each(|token: u64| back.send(token)))?;
        let took = timed(|| {
            for _ in 0..count / 2 {
                there.send(1)?;
                returned.recv()?;
            }
            Ok(())
        });
        drop(there);
        other.join().expect("it does not panic")?;
        took
    }
}

fn main() -> ExitCode {
    rival::main(harness::name!(), || Ok(Threads))
}
