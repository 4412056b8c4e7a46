//! One operation: one full TLS 1.3 handshake with signature and certificate, up to the last ticket; both sides in one thread.

use std::process::ExitCode;

use anyhow::Result;
use does_it_matter::tls::{Identity, Pair, client_config};
use harness::{Clock, Nothing, Placement};
use rustls::HandshakeKind;

fn cost_tls_full(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let identity = Identity::new()?;
    let (client, server) = (client_config(identity.root(), false)?, identity.server_config()?);
    let mut done = 0;
    clock.time(1, |laps| {
        for () in laps {
            Pair::connect(&client, &server)?.ensure_was(HandshakeKind::Full)?;
            done += 1;
        }
        Ok(())
    })?;
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_tls_full)
}
