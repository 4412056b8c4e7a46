//! One operation: one byte written into a socket pair and read out again, by a single thread that walks the whole ring.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Streams, TOKEN, WorkingSet};

struct LoopSocket {
    pairs: Vec<(UnixStream, UnixStream, WorkingSet)>,
    buffer: Vec<u8>,
    passed: u64,
}

impl Repeat for LoopSocket {
    type Parameters = Streams;

    fn set_up(parameters: &Streams, _: Placement) -> Result<Self> {
        let pairs = parameters.socket_pairs()?.into_iter();
        let pairs = pairs.map(|(to, from)| (to, from, parameters.working_set())).collect();
        Ok(Self { pairs, buffer: parameters.buffer(), passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.pairs.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            for (to, from, working_set) in &mut self.pairs {
                to.write_all(&TOKEN)?;
                self.passed += from.read(&mut self.buffer)? as u64;
                working_set.touch();
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.passed)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopSocket>(harness::name!())
}
