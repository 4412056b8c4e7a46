//! One operation: one byte passed on over a socket pair with the system calls of a task's hop, made by a single thread that walks the whole
//! ring: a write, an `epoll_wait` that says who can read, the read, and one that finds nothing.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use harness::{Laps, Placement, Repeat};
use rustix::event::epoll::{self, EventData, EventFlags};
use switch_cost::{Streams, TOKEN, WorkingSet};

struct LoopEpoll {
    epoll: rustix::fd::OwnedFd,
    events: Vec<epoll::Event>,
    pairs: Vec<(UnixStream, UnixStream, WorkingSet)>,
    buffer: Vec<u8>,
    passed: u64,
}

/// What is noted for the ends that write, which can always go on; for one that reads, the number of its pair.
const WRITER: u64 = u64::MAX;

impl Repeat for LoopEpoll {
    type Parameters = Streams;

    fn set_up(parameters: &Streams, _: Placement) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let pairs = parameters.socket_pairs()?.into_iter();
        let pairs: Vec<_> = pairs.map(|(to, from)| (to, from, parameters.working_set())).collect();
        // As tokio registers its streams: both ends, for both directions, told once of each change.
        let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        for (number, (to, from, _)) in pairs.iter().enumerate() {
            to.set_nonblocking(true)?;
            from.set_nonblocking(true)?;
            epoll::add(&epoll, to, EventData::new_u64(WRITER), both)?;
            epoll::add(&epoll, from, EventData::new_u64(number as u64), both)?;
        }
        // As many events as tokio asks for.
        Ok(Self { epoll, events: Vec::with_capacity(1024), pairs, buffer: parameters.buffer(), passed: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.pairs.len() as u64
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            for number in 0..self.pairs.len() {
                self.pairs[number].0.write_all(&TOKEN)?;
                while !self.waits_for(number)? {}
                let (_, from, working_set) = &mut self.pairs[number];
                self.passed += from.read(&mut self.buffer)? as u64;
                let empty = from.read(&mut self.buffer).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
                ensure!(empty, "more was read than was written");
                working_set.touch();
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.passed)
    }
}

impl LoopEpoll {
    /// Asks epoll once; whether it says that this pair can be read from.
    fn waits_for(&mut self, number: usize) -> Result<bool> {
        self.events.clear();
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), None)?;
        let can_read = |event: &epoll::Event| {
            // The fields of the kernel's structure are packed, and copied out.
            let (flags, data) = (event.flags, event.data);
            data.u64() == number as u64 && flags.contains(EventFlags::IN)
        };
        Ok(self.events.iter().any(can_read))
    }
}

fn main() -> ExitCode {
    harness::repeat::<LoopEpoll>(harness::name!())
}
