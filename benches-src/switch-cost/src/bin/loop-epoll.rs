//! One operation: one byte passed on over a socket pair with the system calls of a task's hop, made by a single thread that walks the whole
//! ring: a write, an `epoll_wait` that says who can read, the read, and one that finds nothing.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use harness::{Clock, Placement};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use switch_cost::{Ring, TOKEN};

fn loop_epoll(ring: Ring, _: Placement, clock: Clock) -> Result<u64> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut pairs = ring.socket_pairs()?;
    register(&epoll, &pairs)?;
    // As many events as tokio asks for.
    let mut events = Vec::with_capacity(1024);
    let (mut buffer, mut passed) = ([0], 0);
    clock.time(ring.hops, |laps| {
        let mut read = 0;
        for () in laps {
            for (number, (to, from)) in pairs.iter_mut().enumerate() {
                to.write_all(&TOKEN)?;
                while !can_read(number, &epoll, &mut events)? {}
                read += from.read(&mut buffer)? as u64;
                let empty = from.read(&mut buffer).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
                ensure!(empty, "more was read than was written");
            }
        }
        passed += read;
        Ok(())
    })?;
    Ok(passed)
}

/// Asks epoll once; whether it says that the pair of this number can be read from.
fn can_read(number: usize, epoll: &OwnedFd, events: &mut Vec<epoll::Event>) -> Result<bool> {
    events.clear();
    epoll::wait(epoll, rustix::buffer::spare_capacity(events), None)?;
    let says_so = |event: &epoll::Event| {
        // The fields of the kernel's structure are packed, and copied out.
        let (flags, data) = (event.flags, event.data);
        data.u64() == number as u64 && flags.contains(EventFlags::IN)
    };
    Ok(events.iter().any(says_so))
}

/// What is noted for the ends that write, which can always go on; for one that reads, the number of its pair.
const WRITER: u64 = u64::MAX;

/// As tokio registers its streams: both ends, for both directions, told once of each change.
fn register(epoll: &OwnedFd, pairs: &[(UnixStream, UnixStream)]) -> Result<()> {
    let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    for (number, (to, from)) in pairs.iter().enumerate() {
        to.set_nonblocking(true)?;
        from.set_nonblocking(true)?;
        epoll::add(epoll, to, EventData::new_u64(WRITER), both)?;
        epoll::add(epoll, from, EventData::new_u64(number as u64), both)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), loop_epoll)
}
