//! One operation: one call of the same function in another thread: a request over a channel, answered over a fresh one with room for one reply.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};
use switch_cost::layout;

type Request = (u64, SyncSender<u64>);

struct CallThread {
    requests: Sender<Request>,
    server: JoinHandle<Result<()>>,
    calls: u64,
}

impl Repeat for CallThread {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, placement: Placement) -> Result<Self> {
        placement.pin_participant(0)?;
        let (requests, received) = channel();
        let server = thread::spawn(move || {
            placement.pin_participant(1)?;
            serve(received)
        });
        Ok(Self { requests, server, calls: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            let (reply, response) = sync_channel(1);
            self.requests.send((self.calls, reply))?;
            self.calls = response.recv()?;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        drop(self.requests);
        self.server.join().expect("the server panicked")?;
        // The function adds one to what it is called with.
        Ok(self.calls)
    }
}

fn serve(requests: Receiver<Request>) -> Result<()> {
    for (calls, reply) in requests {
        reply.send(layout(calls))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat::<CallThread>(harness::name!())
}
