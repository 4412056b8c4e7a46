//! One operation: a pool of threads started, one job sent to it and answered, and all of its threads joined.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context, Result};
use clap::Args;
use harness::{Clock, Placement};
use resources::reserve_threads;
use serde::Serialize;

type Job = Box<dyn FnOnce() + Send>;

fn start_pool(Parameters { workers }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    reserve_threads(workers as usize)?;
    let mut answered = 0;
    clock.time(1, |laps| {
        for () in laps {
            let (jobs, queue) = channel::<Job>();
            let queue = Arc::new(Mutex::new(queue));
            let mut threads = Vec::with_capacity(workers as usize);
            for index in 0..workers as usize {
                let queue = queue.clone();
                threads.push(thread::Builder::new().spawn(move || {
                    placement.pin_participant(index)?;
                    work(&queue);
                    anyhow::Ok(())
                })?);
            }
            let (answer, answers) = channel();
            jobs.send(Box::new(move || answer.send(1).expect("the answer is waited for")))
                .ok()
                .context("the pool has ended")?;
            answered += answers.recv()?;
            // Tells the threads that no more will come.
            drop(jobs);
            for thread in threads {
                thread.join().expect("no job panics")?;
            }
        }
        Ok(())
    })?;
    Ok(answered)
}

/// Does jobs until there can be no more. One thread waits at the channel, and the others wait for that one at the lock.
fn work(queue: &Mutex<Receiver<Job>>) {
    let next = || queue.lock().expect("nobody panics while waiting").recv();
    while let Ok(job) = next() {
        job();
    }
}

#[derive(Args, Serialize)]
struct Parameters {
    /// Threads that do jobs
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1024))]
    workers: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), start_pool)
}
