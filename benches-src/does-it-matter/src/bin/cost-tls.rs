//! One operation: one TLS 1.3 handshake, full or resumed from a ticket, up to the last ticket; or one record of 16 KiB sealed by the client and opened by the server. Both sides in one thread, or the server's part of the time alone.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use does_it_matter::tls::{self, Identity, Pair};
use harness::{Clock, Laps, Placement, monotonic_ns};
use rustls::{ClientConfig, HandshakeKind, ServerConfig};
use serde::Serialize;

fn cost_tls(Parameters { what, side }: Parameters, _: Placement, clock: Clock) -> Result<u64> {
    ensure!(what != What::Record || side == Side::Both, "a record is measured with both sides");
    let (client, server, mut first) = meet(what)?;
    let mut done = 0;
    clock.time(1, |laps| {
        done += match (what, side) {
            (What::Record, _) => records(&mut first, laps)?,
            (_, Side::Both) => handshakes(&client, &server, what, laps)?,
            (_, Side::Server) => servers_turns(&client, &server, what, laps)?,
        };
        Ok(())
    })?;
    Ok(done)
}

/// Both sides, and a first connection: it has the records, and left the tickets.
fn meet(what: What) -> Result<(Arc<ClientConfig>, Arc<ServerConfig>, Pair)> {
    let identity = Identity::new()?;
    let server = identity.server_config()?;
    let client = tls::client_config(identity.root(), what == What::Resumed)?;
    let first = Pair::connect(&client, &server)?;
    Ok((client, server, first))
}

fn handshakes(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>, what: What, laps: Laps) -> Result<u64> {
    let mut done = 0;
    for () in laps {
        what.check(&Pair::connect(client, server)?)?;
        done += 1;
    }
    Ok(done)
}

fn servers_turns(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>, what: What, laps: Laps) -> Result<u64> {
    let (mut done, mut laps) = (0, laps.into_iter());
    while laps.next().is_some() {
        let (mut servers_ns, mut since) = (0, None);
        let pair = Pair::connect_by_turns(client, server, |turn| {
            let now = monotonic_ns();
            servers_ns += since.map_or(0, |since| now - since);
            since = (turn == tls::Side::Server).then_some(now);
        })?;
        what.check(&pair)?;
        done += 1;
        // The last turn was the client's, which took the tickets.
        let Pair { client, server, .. } = pair;
        drop(client);
        let since = monotonic_ns();
        drop(server);
        laps.took(servers_ns + monotonic_ns() - since);
    }
    Ok(done)
}

fn records(pair: &mut Pair, laps: Laps) -> Result<u64> {
    const RECORD_BYTES: usize = 16 * 1024;
    let said: Vec<u8> = (0..RECORD_BYTES).map(|index| (index % 251) as u8).collect();
    let (mut done, mut heard) = (0, vec![0; RECORD_BYTES]);
    for () in laps {
        heard[RECORD_BYTES - 1] = !said[RECORD_BYTES - 1];
        pair.say(&said, &mut heard)?;
        done += u64::from(heard[RECORD_BYTES - 1] == said[RECORD_BYTES - 1]);
    }
    ensure!(heard == said, "what was heard is not what was said");
    Ok(done)
}

#[derive(Args, Serialize, Clone, Copy)]
struct Parameters {
    /// What is done
    #[arg(long, value_enum, default_value_t)]
    what: What,
    /// Whose time of a handshake is measured; of a record, both have one
    #[arg(long, value_enum, default_value_t)]
    side: Side,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    /// A handshake with signature and certificate, which the client verifies
    #[default]
    Full,
    /// A handshake from the ticket that an earlier one left; keys are exchanged anew
    Resumed,
    /// A record of application data
    Record,
}

impl What {
    /// Both have to agree on what they did.
    fn check(self, pair: &Pair) -> Result<()> {
        let wanted = if self == Self::Full { HandshakeKind::Full } else { HandshakeKind::Resumed };
        let kinds = (pair.client.handshake_kind(), pair.server.handshake_kind());
        ensure!(kinds == (Some(wanted), Some(wanted)), "the handshake was {kinds:?}");
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Side {
    /// The client's and the server's
    #[default]
    Both,
    /// The server's turns, by the clock; what is counted beside is both sides', since counters cannot be read that often
    Server,
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_tls)
}
