//! One operation: one request of 256, of which everything is counted but the time: the calls that each server makes, and the memory
//! that it asks for.

// Each server is the very file that is timed elsewhere, and so is what one contains of another; their `main`s are not needed here.
#![allow(dead_code, clippy::duplicate_mod)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use async_vs_manual::fake::Network;
use async_vs_manual::server::REQUESTS;
use async_vs_manual::{Load, Loaded, Serve, check};
use clap::{Args, ValueEnum};
use harness::{Once, Placement};
use observation::Measure;
use serde::Serialize;

#[path = "arc-task.rs"]
mod arc_task;
#[path = "box-arc.rs"]
mod box_arc;
#[path = "box-callerbox.rs"]
mod box_callerbox;
#[path = "box-chkrc.rs"]
mod box_chkrc;
#[path = "box-rc.rs"]
mod box_rc;
#[path = "box.rs"]
mod boxed;
mod callerbox;
#[path = "large-box.rs"]
mod large_box;
#[path = "large-nonbox.rs"]
mod large_nonbox;
mod manual;
mod nonbox;
#[path = "state-machine.rs"]
mod state_machine;
#[path = "step-futures.rs"]
mod step_futures;
#[path = "step-original.rs"]
mod step_original;
#[path = "step-queue.rs"]
mod step_queue;
#[path = "step-readiness.rs"]
mod step_readiness;
#[path = "step-table.rs"]
mod step_table;
#[path = "step-unsafe.rs"]
mod step_unsafe;
#[path = "step-wakers.rs"]
mod step_wakers;

#[derive(Args, Serialize)]
struct Counted {
    /// Whose calls are counted
    #[arg(long, value_enum, default_value_t)]
    server: Server,
}

#[derive(Clone, Copy, Default, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Server {
    Manual,
    StepBeside,
    StepTable,
    StepFutures,
    StepUnsafe,
    StepReadiness,
    StepQueue,
    StepWakers,
    StepOriginal,
    #[default]
    Nonbox,
    Callerbox,
    LargeNonbox,
    Box,
    BoxCallerbox,
    LargeBox,
    BoxRc,
    BoxChkrc,
    BoxArc,
    ArcTask,
    StateMachine,
}

impl Server {
    fn serve(self, network: &Network, laps: impl Iterator<Item = ()>) {
        match self {
            Self::Manual => manual::Manual::serve(network, laps),
            Self::StepBeside => step_table::StepTable::<false>::serve(network, laps),
            Self::StepTable => step_table::StepTable::<true>::serve(network, laps),
            Self::StepFutures => step_futures::StepFutures::serve(network, laps),
            Self::StepUnsafe => step_unsafe::StepUnsafe::serve(network, laps),
            Self::StepReadiness => step_readiness::StepReadiness::serve(network, laps),
            Self::StepQueue => step_queue::StepQueue::serve(network, laps),
            Self::StepWakers => step_wakers::StepWakers::serve(network, laps),
            Self::StepOriginal => step_original::StepOriginal::serve(network, laps),
            Self::Nonbox => nonbox::Nonbox::serve(network, laps),
            Self::Callerbox => callerbox::CallerBox::serve(network, laps),
            Self::LargeNonbox => large_nonbox::LargeNonbox::serve(network, laps),
            Self::Box => boxed::Boxed::serve(network, laps),
            Self::BoxCallerbox => box_callerbox::BoxCallerBox::serve(network, laps),
            Self::LargeBox => large_box::LargeBox::serve(network, laps),
            Self::BoxRc => box_rc::BoxRc::serve(network, laps),
            Self::BoxChkrc => box_chkrc::BoxCheckedRc::serve(network, laps),
            Self::BoxArc => box_arc::BoxArc::serve(network, laps),
            Self::ArcTask => arc_task::ArcTask::serve(network, laps),
            Self::StateMachine => state_machine::StateMachine::serve(network, laps),
        }
    }
}

struct CountCalls(Server);

impl Once for CountCalls {
    type Parameters = Counted;

    fn set_up(parameters: &Counted, _: Placement) -> Result<Self> {
        Ok(Self(parameters.server))
    }

    fn measure(&mut self) -> Result<BTreeMap<String, Measure>> {
        const LAPS: usize = 3;
        let network = Network::new(Load::new(Loaded::default())?);
        // The first lap is not counted as run time: what is kept for later may still grow in it.
        let mut at_begin = Vec::with_capacity(LAPS);
        self.0.serve(&network, (0..LAPS).map(|_| at_begin.push(ALLOCATIONS.get())));
        let counts = network.counts().by_name();
        check(&counts, LAPS as u64)?;
        let a_lap = at_begin[LAPS - 1] - at_begin[LAPS - 2];
        let calls = counts.iter().map(|(name, count)| ((*name).to_owned(), *count as f64 / LAPS as f64));
        let of_requests = ("allocations".to_owned(), a_lap as f64 / f64::from(REQUESTS));
        let measure = |(name, value)| (name, Measure { unit: "1".to_owned(), values: vec![value] });
        Ok(calls.chain([of_requests]).map(measure).collect())
    }
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of what this thread asks it for.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is handed on to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract that this function has in common with that one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; it came from there.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn main() -> ExitCode {
    harness::once::<CountCalls>(harness::name!())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In this very process, so that Miri can look at every access. It takes its time: the parts of the other servers that are unsafe
    /// are looked at in `tests/wakers.rs`.
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
}
