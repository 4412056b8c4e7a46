//! One operation: one hop of a byte round a ring of participants that one thread serves in a loop over epoll by hand: a read from a socket
//! pair that has something to read, and a write.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Placement};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use switch_cost::{Link, Streams, TOKEN};

fn epoll_socket(ring: Streams, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let (mut links, others) = ring.links()?;
    let chains = links.len();
    links.extend(others);
    let epoll = register(&links)?;
    // As many events as tokio asks for.
    let mut events = Vec::with_capacity(1024);
    let (mut buffer, mut working_sets) = (ring.buffer(), Vec::from_iter(links.iter().map(|_| ring.working_set())));
    let mut passed = 0;
    clock.time(ring.hops(), |laps| {
        let mut pass_on = |participant: usize, mut to: &UnixStream| {
            working_sets[participant].touch();
            to.write_all(&TOKEN)
        };
        for () in laps {
            (0..chains).try_for_each(|driver| pass_on(driver, &links[driver].to))?;
            let mut back = 0;
            while back < chains {
                epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
                for event in events.drain(..) {
                    let participant = event.data.u64() as usize;
                    let Link { from, to, .. } = &links[participant];
                    passed += (&mut &*from).read(&mut buffer)? as u64;
                    if participant < chains { back += 1 } else { pass_on(participant, to)? }
                }
            }
        }
        Ok(())
    })?;
    Ok(passed)
}

/// Registers the ends that are read from, edge-triggered. A ring has a single token, so one read takes all there is.
fn register(links: &[Link<UnixStream>]) -> Result<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (participant, link) in links.iter().enumerate() {
        epoll::add(&epoll, &link.from, EventData::new_u64(participant as u64), EventFlags::IN | EventFlags::ET)?;
    }
    Ok(epoll)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), epoll_socket)
}
