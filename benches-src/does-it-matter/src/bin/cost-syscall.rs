//! One operation: one null system call: `getppid`, which enters the kernel and has nothing to do there.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement};
use rustix::process::getppid;

fn cost_syscall(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let parent = getppid();
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            done += u64::from(getppid() == parent);
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_syscall)
}
