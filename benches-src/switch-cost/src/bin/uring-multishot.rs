//! One operation: one hop of a byte round a ring of participants that one thread serves over io_uring, with sockets that are registered and
//! receives that stay armed.

use std::io;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context, Result, ensure};
use harness::{Clock, Placement, Unavailable};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{BufRingEntry, Fixed};
use io_uring::{IoUring, cqueue, opcode};
use switch_cost::{Streams, TOKEN, WorkingSet};

fn uring_multishot(ring: Streams, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let mut participants = Participants::of(ring)?;
    let (mut passed, chains) = (0, ring.chains as usize);
    clock.time(ring.hops(), |laps| {
        for () in laps {
            (0..chains).try_for_each(|driver| participants.pass_on(driver))?;
            let mut back = 0;
            while back < chains {
                participants.uring.submit_and_wait(1)?;
                while let Some(participant) = participants.received()? {
                    passed += 1;
                    if participant < chains { back += 1 } else { participants.pass_on(participant)? }
                }
            }
        }
        Ok(())
    })?;
    Ok(passed)
}

struct Participants {
    uring: IoUring,
    working_sets: Vec<WorkingSet>,
    buffers: Buffers,
}

/// What the kernel queues, of writes and of receives that are armed.
const ENTRIES: u32 = 1024;
static WRITTEN: [u8; 1] = TOKEN;

impl Participants {
    /// Writes the token to the next participant. The receive that waits for its return is armed already.
    fn pass_on(&mut self, participant: usize) -> Result<()> {
        self.working_sets[participant].touch();
        let write = opcode::Write::new(to(participant), WRITTEN.as_ptr(), WRITTEN.len() as u32).build();
        // The kernel says nothing of a write that went well.
        self.push(&write.flags(Flags::SKIP_SUCCESS))
    }

    /// Whose token has come. The buffer that it came in goes back to the kernel.
    fn received(&mut self) -> Result<Option<usize>> {
        let Some(entry) = self.uring.completion().next() else { return Ok(None) };
        let (participant, bytes) = (entry.user_data() as usize, entry.result());
        ensure!(bytes == TOKEN.len() as i32, "participant {participant} received {bytes}");
        self.buffers.give(cqueue::buffer_select(entry.flags()).context("a receive names its buffer")?);
        if !cqueue::more(entry.flags()) {
            self.arm(participant)?;
        }
        Ok(Some(participant))
    }

    fn arm(&mut self, participant: usize) -> Result<()> {
        self.push(&opcode::RecvMulti::new(from(participant), Buffers::GROUP).build().user_data(participant as u64))
    }

    fn push(&mut self, entry: &Entry) -> Result<()> {
        if self.uring.submission().is_full() {
            self.uring.submit()?;
        }
        // SAFETY: an entry reads from WRITTEN, or into one of `buffers`; both live as long as the process.
        Ok(unsafe { self.uring.submission().push(entry) }?)
    }

    /// All wait for a token, the drivers too.
    fn of(ring: Streams) -> Result<Self> {
        let (mut links, others) = ring.links()?;
        links.extend(others);
        let refused =
            |error| Unavailable::because(format!("io_uring with receives that stay armed was refused: {error}"));
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun();
        let uring = builder.build(ENTRIES).map_err(refused)?;
        // The kernel holds the sockets open from here on.
        let sockets: Vec<_> = links.iter().flat_map(|link| [link.from.as_raw_fd(), link.to.as_raw_fd()]).collect();
        uring.submitter().register_files(&sockets)?;
        let buffers = Buffers::shared_with(&uring, ring).map_err(refused)?;
        let working_sets = links.iter().map(|_| ring.working_set()).collect();
        let mut all = Self { uring, working_sets, buffers };
        (0..links.len()).try_for_each(|participant| all.arm(participant))?;
        all.uring.submit()?;
        let ended = all.uring.completion().next();
        match ended {
            Some(ended) => Err(refused(io::Error::from_raw_os_error(-ended.result()))),
            None => Ok(all),
        }
    }
}

/// The registered socket that a participant reads from.
fn from(participant: usize) -> Fixed {
    Fixed(2 * participant as u32)
}

/// The registered socket that it writes to.
fn to(participant: usize) -> Fixed {
    Fixed(2 * participant as u32 + 1)
}

/// Buffers that the kernel takes for what it receives, out of a ring in shared memory. They are never freed, since the kernel may use them as
/// long as a receive is armed.
struct Buffers {
    ring: *mut BufRingEntry,
    entries: u16,
    /// How many were ever given to the kernel.
    given: u16,
    memory: *mut u8,
    each_bytes: usize,
}

/// What the kernel wants the ring aligned to.
#[derive(Clone)]
#[repr(align(4096))]
#[expect(dead_code, reason = "it is read through pointers, and by the kernel")]
struct Page([u8; 4096]);

impl Buffers {
    const GROUP: u16 = 0;

    /// Two for each token: the kernel may choose the next before a token's is given back.
    fn shared_with(uring: &IoUring, tokens: Streams) -> io::Result<Self> {
        let (entries, each_bytes) = ((2 * tokens.chains).next_power_of_two() as u16, tokens.buffer().len());
        let pages = (usize::from(entries) * size_of::<BufRingEntry>()).div_ceil(size_of::<Page>());
        let ring = vec![Page([0; 4096]); pages].leak().as_mut_ptr().cast();
        let memory = vec![0; usize::from(entries) * each_bytes].leak().as_mut_ptr();
        let mut own = Self { ring, entries, given: 0, memory, each_bytes };
        // SAFETY: the pages hold so many entries, and are never freed.
        unsafe { uring.submitter().register_buf_ring_with_flags(ring as u64, entries, Self::GROUP, 0) }?;
        (0..entries).for_each(|buffer| own.give(buffer));
        Ok(own)
    }

    /// Lets the kernel have a buffer that nobody reads any more.
    fn give(&mut self, buffer: u16) {
        let (place, address) = (self.given % self.entries, usize::from(buffer) * self.each_bytes);
        self.given = self.given.wrapping_add(1);
        // SAFETY: the place is inside the ring. The kernel reads an entry once the tail has passed it, and leaves the tail to us.
        unsafe {
            let entry = &mut *self.ring.add(usize::from(place));
            entry.set_addr(self.memory.add(address) as u64);
            entry.set_len(self.each_bytes as u32);
            entry.set_bid(buffer);
            (*BufRingEntry::tail(self.ring).cast::<AtomicU16>()).store(self.given, Ordering::Release);
        }
    }
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), uring_multishot)
}
