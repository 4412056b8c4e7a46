//! One operation: one number sent into a bounded channel of the standard library and received again, by a single thread that walks the whole ring.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::Channels;

struct LoopChannel {
    channels: Vec<(SyncSender<u64>, Receiver<u64>)>,
    token: u64,
}

impl Repeat for LoopChannel {
    type Parameters = Channels;

    fn set_up(parameters: &Channels, _: Placement) -> Result<Self> {
        let channels = parameters.ring.each(|| sync_channel(parameters.capacity as usize));
        Ok(Self { channels, token: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.channels.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            for (to, from) in &self.channels {
                to.send(self.token + 1)?;
                self.token = from.recv()?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.token)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopChannel>(harness::name!())
}
