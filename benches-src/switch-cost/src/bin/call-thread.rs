//! One operation: one call of the same function in another thread: a request over a channel, answered over a fresh one with room for one reply.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use switch_cost::layout;

type Request = (u64, SyncSender<u64>);

fn call_thread(_: Nothing, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let (requests, received) = channel();
    let server = thread::spawn(move || {
        placement.pin_participant(1)?;
        serve(received)
    });
    let mut calls = 0;
    clock.time(1, |laps| {
        for () in laps {
            let (reply, response) = sync_channel(1);
            requests.send((calls, reply))?;
            calls = response.recv()?;
        }
        Ok(())
    })?;
    drop(requests);
    server.join().expect("the server panicked")?;
    // The function adds one to what it is called with.
    Ok(calls)
}

fn serve(requests: Receiver<Request>) -> Result<()> {
    for (calls, reply) in requests {
        reply.send(layout(calls))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), call_thread)
}
