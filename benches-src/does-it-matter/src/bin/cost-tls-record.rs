//! One operation: one record of 16 KiB, sealed by the client and opened by the server, both in one thread.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use does_it_matter::tls::{Identity, Pair, client_config};
use harness::{Clock, Nothing, Placement};

const RECORD_BYTES: usize = 16 * 1024;

fn cost_tls_record(_: Nothing, _: Placement, clock: Clock) -> Result<u64> {
    let identity = Identity::new()?;
    let mut pair = Pair::connect(&client_config(identity.root(), false)?, &identity.server_config()?)?;
    let said: Vec<u8> = (0..RECORD_BYTES).map(|index| (index % 251) as u8).collect();
    let (mut done, mut heard) = (0, vec![0; RECORD_BYTES]);
    clock.time(1, |laps| {
        for () in laps {
            heard[RECORD_BYTES - 1] = !said[RECORD_BYTES - 1];
            pair.say(&said, &mut heard)?;
            done += u64::from(heard[RECORD_BYTES - 1] == said[RECORD_BYTES - 1]);
        }
        Ok(())
    })?;
    ensure!(heard == said, "what was heard is not what was said");
    Ok(done)
}

fn main() -> ExitCode {
    harness::repeat(harness::name!(), cost_tls_record)
}
