//! What the programs of this chapter share: a ring of participants that pass a token from one to the next.

pub mod cached;

use std::fs::File;
use std::future::Future;
use std::hint::black_box;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use fastrand::Rng;
use harness::Placement;
use resources::{reserve_descriptors, reserve_threads};
use runtime::Flavor;
use rustix::event::{EventfdFlags, eventfd};
use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The token of rings whose primitive carries bytes: one byte, as in the brigades that this chapter grew from. Rings of
/// channels pass a number.
pub const TOKEN: [u8; 1] = [1];

/// Of a participant that is a thread, as in the brigade that this chapter grew from.
pub const STACK_BYTES: usize = 1 << 20;

/// The parameters that every ring has.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Ring {
    /// Participants in the ring, the driver among them: one lap is so many hops
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub hops: u64,
    /// Whether neighbours in the ring were created one after the other
    #[arg(long, value_enum, default_value_t)]
    pub order: Order,
}

/// The parameters of rings over socket pairs with more than a token to them.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Streams {
    #[command(flatten)]
    #[serde(flatten)]
    ring: Ring,
    /// Rings side by side; a lap ends when the token of each is back
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub chains: u64,
    /// What a reader has room for; the token is one byte
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    read_bytes: u64,
    /// Memory of its own that each participant writes to, a byte in every cache line, while it holds the token
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=16 << 20))]
    touch_bytes: u64,
}

/// The parameters of a ring of bounded channels.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Channels {
    /// The ring
    #[command(flatten)]
    #[serde(flatten)]
    pub ring: Ring,
    /// What each channel has room for
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub capacity: u64,
}

/// The parameters of a ring of tokio tasks.
#[derive(Args, Serialize, Clone, Copy)]
pub struct RingOfTasks {
    /// The ring
    #[command(flatten)]
    #[serde(flatten)]
    pub ring: Ring,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    pub runtime: Flavor,
}

/// The parameters of a crowd whose members all work at the same time.
#[derive(Args, Serialize, Clone, Copy)]
pub struct Crowd {
    /// How many work at the same time
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub members: u64,
    /// What each does in one lap: so often that starting and ending together, once a lap, weighs little
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub each: u64,
}

/// The parameters of a crowd of tokio tasks.
#[derive(Args, Serialize, Clone, Copy)]
pub struct CrowdOfTasks {
    /// The crowd
    #[command(flatten)]
    #[serde(flatten)]
    pub crowd: Crowd,
    /// Which of tokio's runtimes
    #[arg(long, value_enum, default_value_t)]
    pub runtime: Flavor,
}

/// How long those sleep who are to be woken beside a neighbour that computes.
pub const SLEEP: Duration = Duration::from_millis(1);

/// How the ring's order and the order of creation agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Participants and primitives are created in the ring's order
    #[default]
    Forward,
    /// In an order that has nothing to do with it, the same in every run
    Shuffled,
}

/// What goes round a ring whose primitive is never closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// What is measured.
    Token = 1,
    /// Whoever gets this passes it on and leaves.
    End = 2,
}

impl Signal {
    fn of(number: u64) -> Self {
        if number == Self::Token as u64 { Self::Token } else { Self::End }
    }
}

/// Sets an eventfd.
#[inline]
pub fn send(mut event: &File, signal: Signal) -> io::Result<()> {
    event.write_all(&(signal as u64).to_ne_bytes())
}

/// Takes back what an eventfd was set to, and waits for it if the descriptor blocks.
#[inline]
pub fn receive(mut event: &File) -> io::Result<Signal> {
    let mut number = [0; 8];
    event.read_exact(&mut number)?;
    Ok(Signal::of(u64::from_ne_bytes(number)))
}

/// What a parked thread waits for.
#[derive(Default)]
pub struct Permit {
    /// A signal, or 0.
    given: AtomicU8,
    owner: OnceLock<Thread>,
}

impl Permit {
    /// From now on the calling thread is the one that takes it.
    pub fn own(&self) {
        self.owner.get_or_init(thread::current);
    }

    /// Gives it to its owner, and wakes that up.
    #[inline]
    pub fn give(&self, signal: Signal) {
        self.given.store(signal as u8, Ordering::Release);
        self.owner.wait().unpark();
    }

    /// Waits for it, and takes it; to be called by its owner.
    #[inline]
    pub fn take(&self) -> Signal {
        loop {
            match self.given.swap(0, Ordering::Acquire) {
                0 => thread::park(),
                given => return Signal::of(u64::from(given)),
            }
        }
    }
}

/// One participant's ends: where the token comes from and where it goes.
pub struct Link<From, To = From> {
    /// Its place in the ring; the driver's is 0.
    pub place: usize,
    /// The end of the primitive before this participant.
    pub from: From,
    /// The end of the primitive after it.
    pub to: To,
}

impl Ring {
    /// So many primitives.
    pub fn each<P>(&self, primitive: impl FnMut() -> P) -> Vec<P> {
        std::iter::repeat_with(primitive).take(self.hops as usize).collect()
    }

    /// The ring's primitives as pipes.
    pub fn pipes(&self) -> Result<Vec<(PipeWriter, PipeReader)>> {
        reserve_descriptors(2 * self.hops as usize)?;
        let pipe = || pipe().map(|(from, to)| (to, from));
        Ok(self.each(pipe).into_iter().collect::<io::Result<_>>()?)
    }

    /// The ring's primitives as socket pairs.
    pub fn socket_pairs(&self) -> Result<Vec<(UnixStream, UnixStream)>> {
        reserve_descriptors(2 * self.hops as usize)?;
        Ok(self.each(UnixStream::pair).into_iter().collect::<io::Result<_>>()?)
    }

    /// The ring's primitives as eventfds; both ends are the same descriptor.
    pub fn eventfds(&self, flags: EventfdFlags) -> Result<Vec<(Arc<File>, Arc<File>)>> {
        reserve_descriptors(self.hops as usize)?;
        let event = || eventfd(0, flags | EventfdFlags::CLOEXEC).map(|event| Arc::new(File::from(event)));
        let both_ends = |event: Arc<File>| (event.clone(), event);
        self.each(event).into_iter().map(|event| Ok(both_ends(event?))).collect()
    }

    /// The ring's primitives as permits.
    pub fn permits(&self) -> Vec<(Arc<Permit>, Arc<Permit>)> {
        let both_ends = |permit: Arc<Permit>| (permit.clone(), permit);
        self.each(|| both_ends(Arc::default()))
    }

    /// A ring of these primitives, each with the end to write into first: the driver's link and those of the others, in
    /// the order in which they are to be created.
    pub fn links<To, From>(&self, mut primitives: Vec<(To, From)>) -> (Link<From, To>, Vec<Link<From, To>>) {
        let mut rng = Rng::with_seed(1);
        if self.order == Order::Shuffled {
            rng.shuffle(&mut primitives);
        }
        let (to, mut from): (Vec<_>, Vec<_>) = primitives.into_iter().unzip();
        // Participant i writes into primitive i and reads from the one before it.
        from.rotate_right(1);
        let mut links = from.into_iter().zip(to).enumerate().map(|(place, (from, to))| Link { place, from, to });
        let driver = links.next().expect("a ring has a driver");
        let mut others: Vec<_> = links.collect();
        if self.order == Order::Shuffled {
            rng.shuffle(&mut others);
        }
        (driver, others)
    }
}

impl Streams {
    /// Hops in one lap, over all rings.
    pub fn hops(&self) -> u64 {
        self.ring.hops * self.chains
    }

    /// The primitives of one ring after the other, as socket pairs.
    pub fn socket_pairs(&self) -> Result<Vec<(UnixStream, UnixStream)>> {
        reserve_descriptors(2 * self.hops() as usize)?;
        let pairs = (0..self.hops()).map(|_| Ok(UnixStream::pair()?));
        pairs.collect()
    }

    /// All rings over socket pairs: the driver's link of each, and those of the others.
    #[expect(clippy::type_complexity, reason = "two lists of the same links, told apart by who gets them")]
    pub fn links(&self) -> Result<(Vec<Link<UnixStream>>, Vec<Link<UnixStream>>)> {
        let mut pairs = self.socket_pairs()?;
        let (mut drivers, mut others) = (Vec::new(), Vec::new());
        while !pairs.is_empty() {
            let (driver, rest) = self.ring.links(pairs.drain(..self.ring.hops as usize).collect());
            drivers.push(driver);
            others.extend(rest);
        }
        Ok((drivers, others))
    }

    /// What a reader reads into.
    pub fn buffer(&self) -> Vec<u8> {
        vec![0; self.read_bytes as usize]
    }

    /// A participant's own memory.
    pub fn working_set(&self) -> WorkingSet {
        WorkingSet(vec![0; self.touch_bytes as usize])
    }
}

/// Memory that a participant writes to while it holds the token.
pub struct WorkingSet(Vec<u8>);

impl WorkingSet {
    /// Writes a byte in every cache line.
    #[inline]
    pub fn touch(&mut self) {
        const LINE_BYTES: usize = 64;
        self.0.iter_mut().step_by(LINE_BYTES).for_each(|byte| *byte = black_box(*byte).wrapping_add(1));
    }
}

/// Participants that are threads of their own.
pub struct Threads(Vec<thread::JoinHandle<Result<u64>>>);

impl Threads {
    /// One per link, which it passes on until the ring ends; it says how often it did.
    pub fn start<From, To>(
        links: Vec<Link<From, To>>,
        placement: Placement,
        pass_on: impl Fn(Link<From, To>) -> Result<u64> + Send + Copy + 'static,
    ) -> Result<Self>
    where
        Link<From, To>: Send + 'static,
    {
        reserve_threads(links.len())?;
        let threads = links.into_iter().map(|link| {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn(move || {
                placement.pin_participant(link.place)?;
                pass_on(link)
            })
        });
        Ok(Self(threads.collect::<Result<_, _>>()?))
    }

    /// Waits for their end, and adds up how often they passed the token on.
    pub fn join(self) -> Result<u64> {
        self.0.into_iter().map(|thread| thread.join().expect("a participant panicked")).sum()
    }
}

/// Participants that are tasks of one of tokio's runtimes, the driver among them.
pub struct Tasks<Driver> {
    /// The driver's ends, which its task has while it drives, and nobody has once that fails.
    driver: Option<Driver>,
    others: OtherTasks,
}

/// The same without the driver.
pub struct OtherTasks {
    runtime: Runtime,
    tasks: Vec<JoinHandle<Result<u64>>>,
    /// How often the driver has passed the token on.
    passed: u64,
}

impl<Driver: Send + 'static> Tasks<Driver> {
    /// One per link of the others, which it passes on until the ring ends; it says how often it did. The driver's task is begun by
    /// [`Self::drive`].
    pub fn start<L, Passing>(
        runtime: Runtime,
        (driver, others): (Driver, Vec<L>),
        pass_on: impl Fn(L) -> Passing,
    ) -> Self
    where
        Passing: Future<Output = Result<u64>> + Send + 'static,
    {
        let tasks = others.into_iter().map(|link| runtime.spawn(pass_on(link))).collect();
        Self { driver: Some(driver), others: OtherTasks { runtime, tasks, passed: 0 } }
    }

    /// Runs the driver as a task among tasks: what `block_on` runs directly would sit on a thread that is no worker, and
    /// its two hops would cross threads. The task gets the driver's ends, and gives them back with how often it passed the token on.
    pub fn drive<Driving>(&mut self, drive: impl FnOnce(Driver) -> Driving) -> Result<()>
    where
        Driving: Future<Output = Result<(Driver, u64)>> + Send + 'static,
    {
        let Self { driver, others } = self;
        let ends = driver.take().expect(COMES_BACK);
        let (ends, passed) = others.runtime.block_on(others.runtime.spawn(drive(ends)))??;
        *driver = Some(ends);
        others.passed += passed;
        Ok(())
    }

    /// The driver's ends, by which the ring is to be ended, and those who leave then.
    pub fn into_parts(self) -> (Driver, OtherTasks) {
        (self.driver.expect(COMES_BACK), self.others)
    }
}

const COMES_BACK: &str = "the driver comes back whenever all went well";

impl OtherTasks {
    /// Waits for their end, and adds up how often they and the driver passed the token on.
    pub fn join(self) -> Result<u64> {
        let passed = self.tasks.into_iter().map(|task| self.runtime.block_on(task)?);
        Ok(self.passed + passed.sum::<Result<u64>>()?)
    }
}

impl Link<UnixStream> {
    /// The same link for tokio; to be called inside a runtime.
    pub fn into_tokio(self) -> Result<Link<tokio::net::UnixStream>> {
        let register = |end: UnixStream| {
            end.set_nonblocking(true)?;
            tokio::net::UnixStream::from_std(end)
        };
        Ok(Link { place: self.place, from: register(self.from)?, to: register(self.to)? })
    }
}

/// What is called: a function that does next to nothing and cannot be optimised away. It counts its calls.
#[inline(never)]
pub fn layout(calls: u64) -> u64 {
    black_box(calls) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_linked_and_shuffled_without_losing_anybody() {
        for order in [Order::Forward, Order::Shuffled] {
            let ring = Ring { hops: 7, order };
            let (driver, others) = ring.links((0..7).map(|primitive| (primitive, primitive)).collect());
            let mut all: Vec<_> = others.into_iter().chain([driver]).collect();
            let created_in_order = all.is_sorted_by_key(|link| if link.place == 0 { 7 } else { link.place });
            assert_eq!(created_in_order, order == Order::Forward);
            all.sort_by_key(|link| link.place);
            for (link, next) in all.iter().zip(all.iter().cycle().skip(1)) {
                assert_eq!(link.to, next.from, "what one writes to, the next reads from");
            }
        }
    }
}
