//! One operation: one eventfd set and read again, by a single thread that walks the whole ring.

use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use rustix::event::EventfdFlags;
use switch_cost::{Ring, Signal, receive, send};

struct LoopEventfd {
    events: Vec<(Arc<File>, Arc<File>)>,
    passed: u64,
}

impl Repeat for LoopEventfd {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, _: Placement) -> Result<Self> {
        Ok(Self { events: parameters.eventfds(EventfdFlags::empty())?, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.events.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            for (to, from) in &self.events {
                send(to, Signal::Token)?;
                self.passed += u64::from(receive(from)? == Signal::Token);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.passed)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopEventfd>(harness::name!())
}
