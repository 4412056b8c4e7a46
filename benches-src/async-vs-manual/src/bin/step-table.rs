//! One operation: one request of 256, answered by the loop that is written by hand. Against `manual`, a table stands between an event
//! and its connection.

// The same connections; that loop is not needed here.
#![allow(dead_code)]

use std::process::ExitCode;

use async_vs_manual::Serve;
use async_vs_manual::fake::{Event, Network, SOURCES};
use async_vs_manual::server::REQUESTS;

mod manual;

use manual::Connection;

/// The table is looked into on the way to the connection, or beside it: the connection is found by its descriptor then, as in `manual`,
/// and what the table says is only compared.
pub(crate) struct StepTable<const ON_THE_WAY: bool>;

impl<const ON_THE_WAY: bool> Serve for StepTable<ON_THE_WAY> {
    fn serve(network: &Network, laps: impl Iterator<Item = ()>) {
        let mut events = Vec::with_capacity(SOURCES);
        let mut connections: Vec<_> = (0..SOURCES).map(|_| Connection::unused()).collect();
        // By descriptor, at which place its connection is. It is the same number, which neither compiler nor processor can know.
        let mut places = vec![0; SOURCES];
        for () in laps {
            let listener = network.listen(REQUESTS);
            listener.register();
            let (mut to_accept, mut open) = (REQUESTS, 0);
            // What is new is worth one try, as if it had had an event.
            events.push(Event::readable(listener.descriptor()));
            loop {
                let mut next = 0;
                while let Some(event) = events.get(next) {
                    next += 1;
                    let descriptor = event.descriptor;
                    if descriptor != listener.descriptor() {
                        let place: u32 = places[descriptor as usize];
                        let place = if ON_THE_WAY {
                            place
                        } else {
                            assert!(place == descriptor, "it is the same number");
                            descriptor
                        };
                        if connections[place as usize].go_on().is_ok() {
                            open -= 1;
                        }
                        continue;
                    }
                    while to_accept > 0
                        && let Ok(stream) = listener.accept()
                    {
                        stream.register();
                        (to_accept, open) = (to_accept - 1, open + 1);
                        let descriptor = stream.descriptor();
                        places[descriptor as usize] = descriptor;
                        connections[descriptor as usize].begin(stream);
                        events.push(Event::readable(descriptor));
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
}

fn main() -> ExitCode {
    async_vs_manual::main::<StepTable<true>>(harness::name!())
}
