//! How far apart two CPUs are: how long it takes until one of them sees what the other has written.
//!
//! Between cores that share a cache it takes some tens of nanoseconds, between others a hundred or
//! more. On a virtual machine it changes when the host runs a CPU of the guest on another core, of
//! which the guest's kernel knows nothing.

use std::hint::spin_loop;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::record::processors::same_core;
use crate::statistics::median;

/// The CPUs that this process may use, in order.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect())
}

/// Keeps the calling thread on one CPU.
pub fn stay_on(cpu: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(cpu);
    Ok(sched_setaffinity(None, &only)?)
}

const BATCHES: u32 = 10;
const ROUND_TRIPS: u32 = 500;

/// [`line_ns`] between the two CPUs of the placement `two-cpus`, which are those of different cores
/// that come first; nothing where there is one CPU.
pub fn of_two_cpus() -> io::Result<Option<u64>> {
    let allowed = allowed_cpus()?;
    let [one, rest @ ..] = &allowed[..] else { return Ok(None) };
    let siblings = same_core(*one);
    let other = rest.iter().find(|cpu| !siblings.contains(cpu)).or(rest.first());
    other.map(|other| line_ns(*one, *other)).transpose()
}

/// Half of what a line of memory takes from one CPU to the other and back, in whole nanoseconds:
/// the median of ten batches of 500. It is found within a few milliseconds, if nobody else keeps
/// one of the two.
pub fn line_ns(one: usize, other: usize) -> io::Result<u64> {
    assert_ne!(one, other, "two threads of one CPU would wait for each other");
    let (line, meeting) = (Line(AtomicU32::new(0)), Meeting { failed: AtomicBool::new(false), both: Barrier::new(2) });
    thread::scope(|scope| {
        let answering = scope.spawn(|| {
            meeting.on(other)?;
            for trip in 0..BATCHES * ROUND_TRIPS {
                line.wait_for(2 * trip + 1);
                line.set(2 * trip + 2);
            }
            io::Result::Ok(())
        });
        let asking = scope.spawn(|| {
            meeting.on(one)?;
            let batch = |batch: u32| {
                let start = Instant::now();
                for trip in batch * ROUND_TRIPS..(batch + 1) * ROUND_TRIPS {
                    line.set(2 * trip + 1);
                    line.wait_for(2 * trip + 2);
                }
                start.elapsed().as_nanos() as f64 / f64::from(2 * ROUND_TRIPS)
            };
            io::Result::Ok((0..BATCHES).map(batch).collect::<Vec<_>>())
        });
        answering.join().expect("it cannot panic")?;
        let batches = asking.join().expect("it cannot panic")?;
        Ok(median(&batches).expect("there are batches").round() as u64)
    })
}

/// A line of memory that nothing else lies in.
#[repr(align(128))]
struct Line(AtomicU32);

impl Line {
    fn set(&self, number: u32) {
        self.0.store(number, Ordering::Release);
    }

    fn wait_for(&self, number: u32) {
        while self.0.load(Ordering::Acquire) != number {
            spin_loop();
        }
    }
}

/// Where two threads meet before either begins: who began alone would wait for ever.
struct Meeting {
    failed: AtomicBool,
    both: Barrier,
}

impl Meeting {
    /// Takes the calling thread to its CPU, and waits for the other.
    fn on(&self, cpu: usize) -> io::Result<()> {
        let stays = stay_on(cpu);
        self.failed.fetch_or(stays.is_err(), Ordering::Relaxed);
        self.both.wait();
        stays?;
        if self.failed.load(Ordering::Relaxed) { Err(io::Error::other("the other CPU cannot be used")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_some_nanoseconds_from_one_cpu_to_another() {
        if let [one, other, ..] = allowed_cpus().unwrap()[..] {
            let ns = line_ns(one, other).unwrap();
            assert!((1..1_000_000).contains(&ns), "{ns} ns");
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error_and_nobody_waits_for_it() {
        let one = allowed_cpus().unwrap()[0];
        assert!(line_ns(one, CpuSet::MAX_CPU - 1).is_err());
        assert!(line_ns(CpuSet::MAX_CPU - 1, one).is_err());
    }
}
