//! One operation: one of many waiting threads made to give up, by closing the channel that it waits for, and joined.

use std::process::ExitCode;
use std::sync::mpsc::{RecvError, Sender, channel};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use clap::Args;
use harness::{Clock, Placement, monotonic_ns};
use resources::reserve_threads;
use serde::Serialize;
use switch_cost::{SLEEP, STACK_BYTES};

fn cancel_thread(Parameters { members }: Parameters, placement: Placement, clock: Clock) -> Result<u64> {
    reserve_threads(members as usize)?;
    placement.pin_participant(0)?;
    let mut gave_up = 0;
    clock.time(members, |laps| {
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            let waiting = start_waiting(members, placement)?;
            let start_ns = monotonic_ns();
            for (sender, thread) in waiting {
                drop(sender);
                gave_up += u64::from(thread.join().expect("no member panics") == Err(RecvError));
            }
            laps.took(monotonic_ns() - start_ns);
        }
        Ok(())
    })?;
    Ok(gave_up)
}

type Waiting = (Sender<u64>, JoinHandle<Result<u64, RecvError>>);

fn start_waiting(members: u64, placement: Placement) -> Result<Vec<Waiting>> {
    let (here, arrivals) = channel();
    let start_member = |index| {
        let (sender, messages) = channel();
        let here = here.clone();
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            placement.pin_participant(index as usize).expect("the placement was applied before");
            here.send(()).expect("the driver waits");
            messages.recv()
        })?;
        Ok((sender, thread))
    };
    let waiting = (1..=members).map(start_member).collect::<Result<_>>()?;
    (0..members).try_for_each(|_| arrivals.recv())?;
    // Time for the last of them to fall asleep.
    thread::sleep(SLEEP);
    Ok(waiting)
}

#[derive(Args, Serialize)]
struct Parameters {
    /// How many wait at the same time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=4096))]
    members: u64,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cancel_thread)
}
