//! One operation: one null system call: `getppid`, which enters the kernel and has nothing to do there.

use std::os::unix::process::parent_id;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Nothing, Placement, Unavailable};
use rustix::process::getppid;

fn cost_syscall(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    // Of a call that a sandbox refuses, the time would be the sandbox's.
    if parent_id() == u32::MAX {
        return Err(Unavailable::because("getppid is refused here"));
    }
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
