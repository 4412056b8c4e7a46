//! One operation: one thread held, which has touched part of its stack and is blocked.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Result;
use resources::reserve_threads;
use memory::{Climb, Gate, Held, Threads, Units, by_touch, touch};

struct HoldThread {
    parameters: Threads,
    body: fn(&Gate),
    gate: Arc<Gate>,
    threads: Vec<JoinHandle<()>>,
}

impl Units for HoldThread {
    type Parameters = Threads;

    fn set_up(parameters: &Threads) -> Result<Self> {
        parameters.check()?;
        reserve_threads(parameters.most())?;
        Ok(Self {
            parameters: *parameters,
            body: by_touch!(parameters.touch_bytes, hold),
            gate: Arc::default(),
            threads: Vec::with_capacity(parameters.most()),
        })
    }

    fn add(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let (body, gate) = (self.body, self.gate.clone());
            self.threads.push(self.parameters.builder().spawn(move || body(&gate))?);
        }
        self.gate.await_arrivals(self.threads.len())
    }
}

fn hold<const TOUCH_BYTES: usize>(gate: &Gate) {
    let mut own = [0; TOUCH_BYTES];
    touch(&mut own);
    gate.wait();
    touch(&mut own);
}

impl Drop for HoldThread {
    fn drop(&mut self) {
        self.gate.open();
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn main() -> ExitCode {
    harness::once::<Climb<HoldThread>>(harness::name!())
}
