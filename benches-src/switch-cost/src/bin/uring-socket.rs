//! One operation: one hop of a byte round a ring of participants that one thread serves over io_uring, each waiting for a read from a socket pair, linked to its write.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use harness::{Laps, Placement, Repeat, Unavailable};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use switch_cost::{Link, Streams, TOKEN, WorkingSet};

/// What the kernel queues, of reads and of writes.
const ENTRIES: u32 = 1024;
static WRITTEN: [u8; 1] = TOKEN;

struct UringSocket {
    uring: IoUring,
    /// The drivers' first, one of each ring.
    links: Vec<Link<UnixStream>>,
    chains: usize,
    working_sets: Vec<WorkingSet>,
    /// What each participant reads into, one after the other. It is never freed, since the kernel may write to it as long as a
    /// read is under way.
    buffers: *mut u8,
    buffer_bytes: usize,
    parameters: Streams,
    passed: u64,
}

impl Repeat for UringSocket {
    type Parameters = Streams;

    fn set_up(parameters: &Streams, placement: Placement) -> Result<Self> {
        placement.pin_participant(0)?;
        let (mut links, others) = parameters.links()?;
        let chains = links.len();
        links.extend(others);
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun();
        let uring = builder.build(ENTRIES).map_err(|error| {
            Unavailable::because(format!("io_uring with SINGLE_ISSUER and DEFER_TASKRUN was refused: {error}"))
        })?;
        let working_sets = links.iter().map(|_| parameters.working_set()).collect();
        let buffer_bytes = parameters.buffer().len();
        let buffers = vec![0; links.len() * buffer_bytes].leak().as_mut_ptr();
        let parameters = *parameters;
        let mut this = Self { uring, links, chains, working_sets, buffers, buffer_bytes, parameters, passed: 0 };
        (chains..this.links.len()).try_for_each(|participant| this.push(&[this.read(participant)]))?;
        this.uring.submit()?;
        Ok(this)
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.hops()
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        for () in laps {
            (0..self.chains).try_for_each(|driver| self.pass_on(driver))?;
            let mut back = 0;
            while back < self.chains {
                self.uring.submit_and_wait(1)?;
                while let Some((participant, bytes)) = self.completed() {
                    ensure!(bytes == TOKEN.len() as i32, "participant {participant} read {bytes}");
                    self.passed += 1;
                    if participant < self.chains { back += 1 } else { self.pass_on(participant)? }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64> {
        // Who reads the end of its stream leaves.
        for link in &self.links {
            link.to.shutdown(std::net::Shutdown::Write)?;
        }
        for _ in self.chains..self.links.len() {
            self.uring.submit_and_wait(1)?;
            let (participant, bytes) = self.completed().context("a read that ended")?;
            ensure!(bytes == 0, "participant {participant} read {bytes} at the end");
        }
        Ok(self.passed)
    }
}

impl UringSocket {
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
}

fn main() -> ExitCode {
    harness::repeat::<UringSocket>(harness::name!())
}
