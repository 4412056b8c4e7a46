//! One operation: one hop of a byte round a ring of participants that one thread serves over io_uring, each waiting for a read from a socket pair, linked to its write.

use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use harness::{Clock, Placement, Unavailable};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use switch_cost::{Link, Streams, TOKEN, WorkingSet};

fn uring_socket(ring: Streams, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let mut participants = Participants::of(ring)?;
    let (mut passed, chains) = (0, participants.chains);
    clock.time(ring.hops(), |laps| {
        for () in laps {
            (0..chains).try_for_each(|driver| participants.pass_on(driver))?;
            let mut back = 0;
            while back < chains {
                participants.uring.submit_and_wait(1)?;
                while let Some((participant, bytes)) = participants.completed() {
                    ensure!(bytes == TOKEN.len() as i32, "participant {participant} read {bytes}");
                    passed += 1;
                    if participant < chains { back += 1 } else { participants.pass_on(participant)? }
                }
            }
        }
        Ok(())
    })?;
    participants.leave()?;
    Ok(passed)
}

struct Participants {
    uring: IoUring,
    /// The drivers' first, one of each ring.
    links: Vec<Link<UnixStream>>,
    chains: usize,
    working_sets: Vec<WorkingSet>,
    /// What each participant reads into, one after the other. It is never freed, since the kernel may write to it as long as a
    /// read is under way.
    buffers: *mut u8,
    buffer_bytes: usize,
}

/// What the kernel queues, of reads and of writes.
const ENTRIES: u32 = 1024;
static WRITTEN: [u8; 1] = TOKEN;

impl Participants {
    /// Writes the token to the next participant, and then waits for it to come round again.
    fn pass_on(&mut self, participant: usize) -> Result<()> {
        self.working_sets[participant].touch();
        let to = Fd(self.links[participant].to.as_raw_fd());
        let write = opcode::Write::new(to, WRITTEN.as_ptr(), WRITTEN.len() as u32).build();
        // The kernel begins the read when the write is done, and says nothing of a write that went well.
        let write = write.flags(Flags::IO_LINK | Flags::SKIP_SUCCESS);
        self.push(&[write, self.read(participant)])
    }

    fn read(&self, participant: usize) -> Entry {
        let from = Fd(self.links[participant].from.as_raw_fd());
        let buffer = self.buffers.wrapping_add(participant * self.buffer_bytes);
        opcode::Read::new(from, buffer, self.buffer_bytes as u32).build().user_data(participant as u64)
    }

    fn push(&mut self, entries: &[Entry]) -> Result<()> {
        let room = {
            let queue = self.uring.submission();
            queue.capacity() - queue.len()
        };
        // Linked entries must be submitted together.
        if room < entries.len() {
            self.uring.submit()?;
        }
        // SAFETY: an entry reads from WRITTEN or writes to one participant's part of `buffers`, both of which live as long as
        // the process; its descriptor is a stream of `links`, and the kernel holds that open for itself once it is submitted.
        Ok(unsafe { self.uring.submission().push_multiple(entries) }?)
    }

    /// A read that has ended: whose it was, and how many bytes it got or which error.
    fn completed(&mut self) -> Option<(usize, i32)> {
        let entry = self.uring.completion().next()?;
        Some((entry.user_data() as usize, entry.result()))
    }

    /// All but the drivers wait for a token.
    fn of(ring: Streams) -> Result<Self> {
        let (mut links, others) = ring.links()?;
        let chains = links.len();
        links.extend(others);
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun();
        let uring = builder.build(ENTRIES).map_err(|error| {
            Unavailable::because(format!("io_uring with SINGLE_ISSUER and DEFER_TASKRUN was refused: {error}"))
        })?;
        let working_sets = links.iter().map(|_| ring.working_set()).collect();
        let buffer_bytes = ring.buffer().len();
        let buffers = vec![0; links.len() * buffer_bytes].leak().as_mut_ptr();
        let mut all = Self { uring, links, chains, working_sets, buffers, buffer_bytes };
        (chains..all.links.len()).try_for_each(|participant| all.push(&[all.read(participant)]))?;
        all.uring.submit()?;
        Ok(all)
    }

    /// Who reads the end of its stream leaves.
    fn leave(mut self) -> Result<()> {
        for link in &self.links {
            link.to.shutdown(Shutdown::Write)?;
        }
        for _ in self.chains..self.links.len() {
            self.uring.submit_and_wait(1)?;
            let (participant, bytes) = self.completed().context("a read that ended")?;
            ensure!(bytes == 0, "participant {participant} read {bytes} at the end");
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), uring_socket)
}
