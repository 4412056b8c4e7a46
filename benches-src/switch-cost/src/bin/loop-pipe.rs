//! One operation: one byte written into a pipe and read out again, by a single thread that walks the whole ring.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Placement, Repeat};
use switch_cost::{Ring, TOKEN};

struct LoopPipe {
    pipes: Vec<(PipeWriter, PipeReader)>,
    passed: u64,
}

impl Repeat for LoopPipe {
    type Parameters = Ring;

    fn set_up(parameters: &Ring, _: Placement) -> Result<Self> {
        Ok(Self { pipes: parameters.pipes()?, passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.pipes.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let mut buffer = [0];
        for () in laps {
            for (to, from) in &mut self.pipes {
                to.write_all(&TOKEN)?;
                self.passed += from.read(&mut buffer)? as u64;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.passed)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopPipe>(harness::name!())
}
