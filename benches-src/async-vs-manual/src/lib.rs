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
pub mod watched;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use harness::Running;

use fake::Network;
pub use load::{Load, Loaded};
use server::REQUESTS;

/// The whole of a server's `main`: its function answers [`REQUESTS`] requests in each lap. What stands before its first lap is not timed.
///
/// The function is a different one for each type of laps, so it cannot be handed on as a value before that type is known. A type for laps
/// that are counted would spare this macro, and costs `nonbox` a hundredth: with it the compiler comes out elsewhere.
#[macro_export]
macro_rules! main {
    ($server:ident) => {
        $crate::requests(harness::name!(), |network, laps, done| $server(network, laps.inspect(|()| *done += 1)))
    };
}

/// Times a server, and checks that it made the calls that its laps need. `serve` is to count the laps as it does them.
pub fn requests(name: &str, serve: impl Fn(&Network, Running, &mut u64)) -> ExitCode {
    harness::repeat(name, |loaded: Loaded, _, clock| {
        let network = Network::new(Load::new(loaded)?);
        let mut done = 0;
        clock.counting(|| calls(&network)).time(REQUESTS.into(), |laps| {
            serve(&network, laps.into_iter(), &mut done);
            Ok(())
        })?;
        let counts = network.counts().by_name();
        check(&counts, done)?;
        Ok(counts["answered"])
    })
}

/// The calls that a server makes for its 256 requests: one to register each stream and the listener, and as many to unregister them;
/// accept, read and write, each once to be told to wait and once to succeed; and one to poll for each client that is accepted, after
/// which the last one is read from and written to.
pub const CALLS: [(&str, u64); 6] =
    [("register", 257), ("unregister", 257), ("poll", 258), ("accept", 512), ("read", 512), ("write", 512)];

/// Those that were made so far, by name, and all of them together.
fn calls(network: &Network) -> BTreeMap<String, u64> {
    let counts = network.counts().by_name();
    let calls = CALLS.map(|(call, _)| (call.to_owned(), counts[call]));
    let all = calls.iter().map(|(_, times)| times).sum();
    calls.into_iter().chain([("network_calls".to_owned(), all)]).collect()
}

/// That exactly the calls were made that so many laps need.
pub fn check(counts: &BTreeMap<&str, u64>, laps: u64) -> Result<()> {
    for (call, times) in CALLS {
        let (made, needed) = (counts[call], times * laps);
        ensure!(made == needed, "{needed} calls to {call} were needed for {laps} laps, and {made} were made");
    }
    Ok(())
}
