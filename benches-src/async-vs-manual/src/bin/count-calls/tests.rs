//! That each server answers, in this very process, so that Miri can look at every access: cargo miri test -p async-vs-manual --bin count-calls

use async_vs_manual::fake::Network;
use async_vs_manual::server::REQUESTS;
use async_vs_manual::{Load, Loaded, check};
use clap::ValueEnum;

use super::servers::Server;

/// Under Miri it takes its time: the parts of the other servers that are unsafe are looked at in `tests/wakers.rs`.
#[test]
fn servers_answer_a_few_laps() {
    const LAPS: u64 = 2;
    let servers = if cfg!(miri) { &[Server::StepUnsafe] } else { Server::value_variants() };
    for server in servers {
        let network = Network::new(Load::new(Loaded::default()).unwrap());
        server.serve(&network, (0..LAPS).map(|_| ()));
        let counts = network.counts().by_name();
        check(&counts, LAPS).unwrap();
        assert_eq!(counts["answered"], LAPS * u64::from(REQUESTS));
    }
}
