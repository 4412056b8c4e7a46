//! What the programs of this chapter share: a network in memory, the server as async functions, a reactor and an executor. Each program
//! puts some of them together, or does without.

pub mod fake;
mod load;
pub mod reactor;
pub mod server;
pub mod slots;
pub mod sockets;
pub mod tasks;
pub mod wakers;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use harness::{Laps, Placement, Repeat};

use fake::Network;
pub use load::{Load, Loaded};
use server::REQUESTS;

/// A way to serve.
pub trait Serve {
    /// Answers [`REQUESTS`] requests in each lap. What stands before the first lap is not timed.
    fn serve(network: &Network, laps: impl Iterator<Item = ()>);
}

/// The calls that a server makes for its 256 requests: one to register each stream and the listener, and as many to unregister them;
/// accept, read and write, each once to be told to wait and once to succeed; and one to poll for each client that is accepted, after
/// which the last one is read from and written to.
pub const CALLS: [(&str, u64); 6] =
    [("register", 257), ("unregister", 257), ("poll", 258), ("accept", 512), ("read", 512), ("write", 512)];

/// A server under test.
pub struct Requests<S> {
    network: Network,
    laps: u64,
    server: PhantomData<S>,
}

impl<S: Serve> Repeat for Requests<S> {
    type Parameters = Loaded;

    fn set_up(loaded: &Loaded, _: Placement) -> Result<Self> {
        Ok(Self { network: Network::new(Load::new(*loaded)?), laps: 0, server: PhantomData })
    }

    fn operations_per_lap(&self) -> u64 {
        REQUESTS.into()
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        S::serve(&self.network, laps.into_iter().inspect(|()| self.laps += 1));
        Ok(())
    }

    fn counts(&self) -> BTreeMap<String, u64> {
        let counts = self.network.counts().by_name();
        let calls = CALLS.map(|(call, _)| (call.to_owned(), counts[call]));
        let all = calls.iter().map(|(_, times)| times).sum();
        calls.into_iter().chain([("network_calls".to_owned(), all)]).collect()
    }

    fn finish(self) -> Result<u64> {
        let counts = self.network.counts().by_name();
        check(&counts, self.laps)?;
        Ok(counts["answered"])
    }
}

/// That exactly the calls were made that so many laps need.
pub fn check(counts: &BTreeMap<&str, u64>, laps: u64) -> Result<()> {
    for (call, times) in CALLS {
        let (made, needed) = (counts[call], times * laps);
        ensure!(made == needed, "{needed} calls to {call} were needed for {laps} laps, and {made} were made");
    }
    Ok(())
}

/// The whole of a program's `main`.
pub fn main<S: Serve>(name: &str) -> ExitCode {
    harness::repeat::<Requests<S>>(name)
}
