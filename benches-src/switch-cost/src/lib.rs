//! What the programs of this chapter share: a ring of participants that pass a token from one to the next.

use std::hint::black_box;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use clap::{Args, ValueEnum};
use harness::Placement;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

/// The token of rings whose primitive carries bytes: one byte, as in the brigades that this chapter grew from. Rings of
/// channels pass a number, to which every participant adds one.
pub const TOKEN: [u8; 1] = [1];

/// Of a participant that is a thread, as in the brigade that this chapter grew from.
pub const STACK_BYTES: usize = 1 << 20;

/// The parameter that every ring has.
#[derive(Args, Serialize)]
pub struct Ring {
    /// Participants in the ring, the driver among them: one lap is so many hops
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub hops: u64,
}

/// The parameters of a ring of bounded channels.
#[derive(Args, Serialize)]
pub struct Channels {
    #[command(flatten)]
    #[serde(flatten)]
    ring: Ring,
    /// What each channel has room for
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    capacity: u64,
}

/// No parameters at all.
#[derive(Args, Serialize)]
pub struct Nothing {}

/// One participant's ends: where the token comes from and where it goes.
pub struct Link<From, To = From> {
    /// The end of the primitive before this participant.
    pub from: From,
    /// The end of the primitive after it.
    pub to: To,
}

/// A ring of primitives, each with the end to write into first, as one link per participant, the driver's first.
pub fn links<To, From>(primitives: Vec<(To, From)>) -> Vec<Link<From, To>> {
    let (to, mut from): (Vec<_>, Vec<_>) = primitives.into_iter().unzip();
    // Participant i writes into primitive i and reads from the one before it.
    from.rotate_right(1);
    let links = from.into_iter().zip(to);
    links.map(|(from, to)| Link { from, to }).collect()
}

impl Ring {
    /// The ring's primitives as socket pairs.
    pub fn socket_pairs(&self) -> Result<Vec<(UnixStream, UnixStream)>> {
        harness::reserve_descriptors(2 * self.hops as usize)?;
        let pairs = (0..self.hops).map(|_| Ok(UnixStream::pair()?));
        pairs.collect()
    }
}

impl Channels {
    /// The ring's primitives, each made by `channel` from its capacity.
    pub fn each<Ends>(&self, channel: impl Fn(usize) -> Ends) -> Vec<Ends> {
        (0..self.ring.hops).map(|_| channel(self.capacity as usize)).collect()
    }
}

impl Link<UnixStream> {
    /// The same link for tokio; to be called inside a runtime.
    pub fn into_tokio(self) -> Result<Link<tokio::net::UnixStream>> {
        let register = |end: UnixStream| {
            end.set_nonblocking(true)?;
            tokio::net::UnixStream::from_std(end)
        };
        let (from, to) = (register(self.from)?, register(self.to)?);
        Ok(Link { from, to })
    }
}

/// What is called: a function that does next to nothing and cannot be optimised away. It counts its calls.
#[inline(never)]
pub fn layout(calls: u64) -> u64 {
    black_box(calls) + 1
}

/// Which of tokio's runtimes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavor {
    /// A worker thread per allowed CPU; tokio's default
    #[default]
    Multi,
    /// Everything on the thread that calls `block_on`
    Current,
}

impl Flavor {
    /// Starts the runtime; its workers take their places as participants do.
    pub fn start(self, placement: Placement) -> Result<Runtime> {
        let mut builder = match self {
            Flavor::Multi => Builder::new_multi_thread(),
            Flavor::Current => {
                placement.pin_participant(0)?;
                Builder::new_current_thread()
            }
        };
        let started = AtomicUsize::new(0);
        builder.enable_io().on_thread_start(move || {
            let index = started.fetch_add(1, Ordering::Relaxed);
            placement.pin_participant(index).expect("the placement was applied to the whole process before");
        });
        Ok(builder.build()?)
    }
}
