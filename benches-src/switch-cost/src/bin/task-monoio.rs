//! One operation: one hop as in task-streams, between tasks of monoio: a runtime on one thread that
//! waits for io_uring instead of epoll.

use std::process::ExitCode;

use anyhow::Result;
use harness::{Clock, Laps, Placement, Unavailable};
use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::UnixStream;
use monoio::{IoUringDriver, RuntimeBuilder};
use switch_cost::{Link, Streams, TOKEN};

fn task_monoio(ring: Streams, placement: Placement, clock: Clock) -> Result<u64> {
    placement.pin_participant(0)?;
    let (drivers, others) = ring.links()?;
    let mut runtime = RuntimeBuilder::<IoUringDriver>::new()
        .build()
        .map_err(|error| Unavailable::because(format!("monoio cannot set up io_uring: {error}")))?;
    let (mut drivers, others) = runtime.block_on(async {
        let others = register(others)?.into_iter().map(|link| monoio::spawn(pass_on(link, ring)));
        anyhow::Ok((register(drivers)?, Vec::from_iter(others)))
    })?;
    let mut passed = 0;
    clock.time(ring.hops(), |laps| {
        let ends = std::mem::take(&mut drivers);
        let (ends, driven) = runtime.block_on(async { monoio::spawn(drive(ends, ring, laps)).await })?;
        (drivers, passed) = (ends, passed + driven);
        Ok(())
    })?;
    // The closed end goes round like a token: each task reads the end of its stream and leaves.
    runtime.block_on(async {
        drop(drivers);
        for task in others {
            passed += task.await?;
        }
        Ok(passed)
    })
}

fn register(links: Vec<Link<std::os::unix::net::UnixStream>>) -> Result<Vec<Link<UnixStream>>> {
    let own = |Link { place, from, to }| {
        anyhow::Ok(Link { place, from: UnixStream::from_std(from)?, to: UnixStream::from_std(to)? })
    };
    links.into_iter().map(own).collect()
}

/// The driver's ends of each ring.
async fn drive(mut drivers: Vec<Link<UnixStream>>, ring: Streams, laps: Laps) -> Result<(Vec<Link<UnixStream>>, u64)> {
    let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
    let mut passed = 0;
    for () in laps {
        for driver in &mut drivers {
            working_set.touch();
            driver.to.write_all(BYTE).await.0?;
        }
        for driver in &mut drivers {
            let (read, own) = driver.from.read(buffer).await;
            passed += read? as u64;
            buffer = own;
        }
    }
    Ok((drivers, passed))
}

async fn pass_on(mut link: Link<UnixStream>, ring: Streams) -> Result<u64> {
    let (mut buffer, mut working_set) = (ring.buffer(), ring.working_set());
    let mut passed = 0;
    loop {
        // The kernel owns the buffer while it reads.
        let (read, own) = link.from.read(buffer).await;
        if read? < BYTE.len() {
            return Ok(passed);
        }
        buffer = own;
        working_set.touch();
        link.to.write_all(BYTE).await.0?;
        passed += 1;
    }
}

const BYTE: &[u8] = &TOKEN;

fn main() -> ExitCode {
    harness::repeat(harness::name!(), task_monoio)
}
