//! One operation: one request of 256, of which everything is counted but the time: the calls that each server makes, and the memory
//! that it asks for.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use async_vs_manual::fake::Network;
use async_vs_manual::server::REQUESTS;
use async_vs_manual::{Load, Loaded, check};
use clap::Args;
use harness::{Described, Placement, Report, described};
use observation::Measure;
use serde::Serialize;

#[path = "count-calls/allocator.rs"]
mod allocator;
#[path = "count-calls/servers.rs"]
mod servers;

use allocator::allocations;
use servers::Server;

fn count_calls(Counted { server }: Counted, _: Placement, report: Report) -> Result<()> {
    const LAPS: usize = 3;
    let network = Network::new(Load::new(Loaded::default())?);
    // The first lap is not counted as run time: what is kept for later may still grow in it.
    let mut at_begin = Vec::with_capacity(LAPS);
    server.serve(&network, (0..LAPS).map(|_| at_begin.push(allocations())));
    let counts = network.counts().by_name();
    check(&counts, LAPS as u64)?;
    let a_lap = at_begin[LAPS - 1] - at_begin[LAPS - 2];
    let calls = counts.iter().map(|(name, count)| (*name, *count as f64 / LAPS as f64));
    let of_requests = ("allocations", a_lap as f64 / f64::from(REQUESTS));
    let measure = |(name, value): (&str, _)| (name.to_owned(), Measure { unit: "1".to_owned(), values: vec![value] });
    report.give(calls.chain([of_requests]).map(measure).collect::<BTreeMap<_, _>>())
}

#[derive(Args, Serialize)]
struct Counted {
    /// Whose calls are counted
    #[arg(long, value_enum, default_value_t)]
    server: Server,
}

const MEASURES: &[Described] = &[
    described("register", "1", "calls in a lap of 256 requests that let the poller know a source"),
    described("unregister", "1", "calls in a lap that let it forget one"),
    described("poll", "1", "calls in a lap that wait for the poller"),
    described("accept", "1", "calls in a lap for the next client"),
    described("read", "1", "calls in a lap for bytes of a client"),
    described("write", "1", "calls in a lap with bytes for a client"),
    described("answered", "1", "clients that got back in a lap what they had sent"),
    described("allocations", "1", "blocks of memory asked for, for each request of the last lap but one"),
];

fn main() -> ExitCode {
    harness::once(harness::name!(), MEASURES, count_calls)
}

#[cfg(test)]
#[path = "count-calls/tests.rs"]
mod tests;
