//! Where threads wait while they are held.

use std::sync::{Condvar, Mutex};

use anyhow::{Result, ensure};

use crate::PATIENCE;

/// What threads wait at until they are all to leave.
#[derive(Default)]
pub struct Gate {
    /// How many are here, and whether they may leave.
    state: Mutex<(usize, bool)>,
    arrived: Condvar,
    opened: Condvar,
}

const UNPOISONED: &str = "nobody panics while holding it";

impl Gate {
    /// A closed one.
    pub const fn new() -> Self {
        Self { state: Mutex::new((0, false)), arrived: Condvar::new(), opened: Condvar::new() }
    }

    /// Says that one more is here, and waits until the gate opens.
    pub fn wait(&self) {
        let mut state = self.state.lock().expect(UNPOISONED);
        state.0 += 1;
        self.arrived.notify_one();
        drop(self.opened.wait_while(state, |(_, open)| !*open).expect(UNPOISONED));
    }

    /// Waits until so many are here.
    pub fn await_arrivals(&self, count: usize) -> Result<()> {
        let mut state = self.state.lock().expect(UNPOISONED);
        while state.0 < count {
            let here = state.0;
            state = self.arrived.wait_timeout_while(state, PATIENCE, |(now, _)| *now == here).expect(UNPOISONED).0;
            ensure!(state.0 > here, "only {here} of {count} threads came to where they wait");
        }
        Ok(())
    }

    /// Lets everybody go.
    pub fn open(&self) {
        self.state.lock().expect(UNPOISONED).1 = true;
        self.opened.notify_all();
    }
}
