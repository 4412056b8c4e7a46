//! One operation: one `recvfrom` that fails for lack of data and one `epoll_wait` that finds an event, as a task's hop has them beside its read and write.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use harness::{Laps, Nothing, Placement, Repeat};
use rustix::event::epoll;
use switch_cost::TOKEN;

struct LoopReadiness {
    epoll: rustix::fd::OwnedFd,
    empty: UnixStream,
    /// Keep both streams open.
    _others: (UnixStream, UnixStream, UnixStream),
    done: u64,
}

impl Repeat for LoopReadiness {
    type Parameters = Nothing;

    fn set_up(_: &Nothing, _: Placement) -> Result<Self> {
        let (empty, silent) = UnixStream::pair()?;
        empty.set_nonblocking(true)?;
        let (mut writer, ready) = UnixStream::pair()?;
        writer.write_all(&TOKEN)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        // Level-triggered: what is never read stays ready.
        epoll::add(&epoll, &ready, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok(Self { epoll, empty, _others: (silent, writer, ready), done: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        // As many as tokio asks for.
        let mut events = Vec::with_capacity(1024);
        for () in laps {
            let failed = self.empty.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
            events.clear();
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None)?;
            ensure!(failed && events.len() == 1, "one stream was to be empty and the other ready");
            self.done += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.done)
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopReadiness>(harness::name!())
}
