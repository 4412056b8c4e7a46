//! One operation: one request of 256, answered by the loop that is written by hand. Against `manual`, a table stands between an event
//! and its connection.

// The same connections; that loop is not needed here.
#![allow(dead_code)]

use std::process::ExitCode;

use async_vs_manual::fake::{Event, Network, SOURCES};
use async_vs_manual::server::REQUESTS;

mod manual;

use manual::Connection;

pub(crate) fn step_table(network: &Network, laps: impl Iterator<Item = ()>) {
    by_table::<true>(network, laps);
}

/// The table is looked into on the way to the connection, or beside it: the connection is found by its descriptor then, as in `manual`,
/// and what the table says is only compared.
pub(crate) fn by_table<const ON_THE_WAY: bool>(network: &Network, laps: impl Iterator<Item = ()>) {
    let mut events = Vec::with_capacity(SOURCES);
    let mut connections: Box<[_; SOURCES]> = Box::new(std::array::from_fn(|_| Connection::unused()));
    // By descriptor, at which place its connection is. It is the same number, which neither compiler nor processor can know.
    let mut places: Box<[u32; SOURCES]> = Box::new([0; _]);
    for () in laps {
        let listener = network.listen(REQUESTS);
        listener.register();
        let (mut to_accept, mut open) = (REQUESTS, 0);
        // As if it had had an event.
        events.push(Event::readable(listener.descriptor()));
        loop {
            let mut next = 0;
            while let Some(event) = events.get(next) {
                next += 1;
                let descriptor = event.descriptor;
                if descriptor != listener.descriptor() {
                    let place = places[descriptor as usize % SOURCES];
                    let place = if ON_THE_WAY {
                        place
                    } else {
                        assert!(place == descriptor, "it is the same number");
                        descriptor
                    };
                    if connections[place as usize % SOURCES].go_on().is_ok() {
                        open -= 1;
                    }
                    continue;
                }
                while to_accept > 0
                    && let Ok(stream) = listener.accept()
                {
                    stream.register();
                    to_accept -= 1;
                    let descriptor = stream.descriptor();
                    places[descriptor as usize % SOURCES] = descriptor;
                    let connection = &mut connections[descriptor as usize % SOURCES];
                    connection.begin(stream);
                    // What is new is worth a try.
                    open += u32::from(connection.go_on().is_err());
                }
            }
            if to_accept + open == 0 {
                break;
            }
            network.poll(&mut events);
        }
        events.clear();
        listener.unregister();
    }
}

fn main() -> ExitCode {
    async_vs_manual::main!(step_table)
}
