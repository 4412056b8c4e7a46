//! One operation: one null system call: `getppid`, which enters the kernel and has nothing to do there.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Laps, Nothing, Placement, Repeat};
use rustix::process::{Pid, getppid};

struct CostSyscall {
    parent: Option<Pid>,
    done: u64,
}

impl Repeat for CostSyscall {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        Ok(Self { parent: getppid(), done: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            self.done += u64::from(getppid() == self.parent);
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.done)
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostSyscall>(harness::name!())
}
