//! One operation: one byte written into a socket pair and read out again, by a single thread that walks the whole ring.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Ring, TOKEN};

struct LoopSocket {
    pairs: Vec<(UnixStream, UnixStream)>,
    passed: u64,
}

impl Repeat for LoopSocket {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, _: Placement) -> Result<Self> {
        Ok(Self { pairs: parameters.socket_pairs()?, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.pairs.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let mut token = TOKEN;
        for () in laps {
            for (to, from) in &mut self.pairs {
                to.write_all(&token)?;
                from.read_exact(&mut token)?;
                self.passed += 1;
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
