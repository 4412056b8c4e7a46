//! One operation: one TLS 1.3 handshake, full or resumed from a ticket, up to the last ticket; or one record of 16 KiB sealed by the client and opened by the server. Both sides in one thread, or the server's part of the time alone.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use does_it_matter::tls::{self, Identity, Pair};
use harness::{Laps, Placement, Repeat, monotonic_ns};
use rustls::{ClientConfig, HandshakeKind, ServerConfig};
use serde::Serialize;

const RECORD_BYTES: usize = 16 * 1024;

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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Side {
    /// The client's and the server's
    #[default]
    Both,
    /// The server's turns, by the clock; what is counted beside is both sides', since counters cannot be read that often
    Server,
}

struct CostTls {
    parameters: Parameters,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    /// A first connection: it has the records, and left the tickets.
    pair: Pair,
    done: u64,
}

impl Repeat for CostTls {
    type Parameters = Parameters;

    fn set_up(parameters: &Parameters, _: Placement) -> Result<Self> {
        let Parameters { what, side } = *parameters;
        ensure!(what != What::Record || side == Side::Both, "a record is measured with both sides");
        let identity = Identity::new()?;
        let server = identity.server_config()?;
        let client = tls::client_config(identity.root(), what == What::Resumed)?;
        let pair = Pair::connect(&client, &server)?;
        Ok(Self { parameters: *parameters, client, server, pair, done: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        1
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        match (self.parameters.what, self.parameters.side) {
            (What::Record, _) => self.records(laps),
            (_, Side::Both) => {
                for () in laps {
                    self.check(&Pair::connect(&self.client, &self.server)?)?;
                }
                Ok(())
            }
            (_, Side::Server) => self.servers_turns(laps),
        }
    }

    fn finish(self) -> Result<u64> {
        Ok(self.done)
    }
}

impl CostTls {
    fn servers_turns(&mut self, laps: Laps) -> Result<()> {
        let mut laps = laps.into_iter();
        while laps.next().is_some() {
            let (mut servers_ns, mut since) = (0, None);
            let pair = Pair::connect_by_turns(&self.client, &self.server, |turn| {
                let now = monotonic_ns();
                servers_ns += since.map_or(0, |since| now - since);
                since = (turn == tls::Side::Server).then_some(now);
            })?;
            self.check(&pair)?;
            // The last turn was the client's, which took the tickets.
            let Pair { client, server, .. } = pair;
            drop(client);
            let since = monotonic_ns();
            drop(server);
            laps.took(servers_ns + monotonic_ns() - since);
        }
        Ok(())
    }

    /// Both have to agree on what they did.
    fn check(&mut self, pair: &Pair) -> Result<()> {
        let wanted = if self.parameters.what == What::Full { HandshakeKind::Full } else { HandshakeKind::Resumed };
        let kinds = (pair.client.handshake_kind(), pair.server.handshake_kind());
        ensure!(kinds == (Some(wanted), Some(wanted)), "the handshake was {kinds:?}");
        self.done += 1;
        Ok(())
    }

    fn records(&mut self, laps: Laps) -> Result<()> {
        let said: Vec<u8> = (0..RECORD_BYTES).map(|index| (index % 251) as u8).collect();
        let mut heard = vec![0; RECORD_BYTES];
        for () in laps {
            heard[RECORD_BYTES - 1] = !said[RECORD_BYTES - 1];
            self.pair.say(&said, &mut heard)?;
            self.done += u64::from(heard[RECORD_BYTES - 1] == said[RECORD_BYTES - 1]);
        }
        ensure!(heard == said, "what was heard is not what was said");
        Ok(())
    }
}

fn main() -> ExitCode {
    harness::repeat::<CostTls>(harness::name!())
}
