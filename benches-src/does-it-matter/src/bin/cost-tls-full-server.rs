//! One operation: the server's part of one full TLS 1.3 handshake with signature and certificate, up to the last ticket; what is counted beside
//! the time is both sides', since counters cannot be read that often.

use std::process::ExitCode;

use anyhow::Result;
use does_it_matter::tls::{Identity, Pair, Side, client_config};
use harness::{Clock, Nothing, Placement, monotonic_ns};
use rustls::HandshakeKind;

fn cost_tls_full_server(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let identity = Identity::new()?;
    let (client, server) = (client_config(identity.root(), false)?, identity.server_config()?);
    let mut done = 0;
    clock.time(1, |laps| {
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            let (mut servers_ns, mut since) = (0, None);
            let pair = Pair::connect_by_turns(&client, &server, |turn| {
                let now = monotonic_ns();
                servers_ns += since.map_or(0, |since| now - since);
                since = (turn == Side::Server).then_some(now);
            })?;
            pair.ensure_was(HandshakeKind::Full)?;
            done += 1;
            // The last turn was the client's, which took the tickets.
            drop(pair.client);
            let since = monotonic_ns();
            drop(pair.server);
            laps.took(servers_ns + monotonic_ns() - since);
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_tls_full_server)
}
