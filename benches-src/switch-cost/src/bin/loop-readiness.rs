//! One operation: one `recvfrom` that fails for lack of data and one `epoll_wait` that finds an event, as a task's hop has them beside its read and write.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use harness::{Clock, Nothing, Placement};
use rustix::event::epoll;
use switch_cost::TOKEN;

fn loop_readiness(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let (mut empty, _silent) = UnixStream::pair()?;
    empty.set_nonblocking(true)?;
    let (mut writer, ready) = UnixStream::pair()?;
    writer.write_all(&TOKEN)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    // Level-triggered: what is never read stays ready.
    epoll::add(&epoll, &ready, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    let mut done = 0;
    clock.time(1, |laps| {
        // As many as tokio asks for.
        let mut events = Vec::with_capacity(1024);
        for () in laps {
            let failed = empty.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
            events.clear();
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
            ensure!(failed && events.len() == 1, "one stream was to be empty and the other ready");
            done += 1;
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_readiness)
}
