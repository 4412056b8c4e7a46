//! Every server of this chapter, each the very file that is timed elsewhere.

// So is what one of them contains of another; their `main`s are not needed here.
#![allow(dead_code, clippy::duplicate_mod)]

use async_vs_manual::fake::Network;
use clap::ValueEnum;
use serde::Serialize;

/// Each has its file, its name on the command line, and its function, which its module is called after.
macro_rules! servers {
    ($($file:literal $(#[$meta:meta])? $name:ident $server:ident,)+) => {
        $(#[path = $file] mod $server;)+

        #[derive(Clone, Copy, Default, ValueEnum, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Server { $($(#[$meta])? $name,)+ }

        impl Server {
            pub fn serve(self, network: &Network, laps: impl Iterator<Item = ()>) {
                match self { $(Self::$name => $server::$server(network, laps),)+ }
            }
        }
    };
}

servers! {
    "../manual.rs" Manual manual,
    "../step-beside.rs" StepBeside step_beside,
    "../step-table.rs" StepTable step_table,
    "../step-futures.rs" StepFutures step_futures,
    "../step-unsafe.rs" StepUnsafe step_unsafe,
    "../step-readiness.rs" StepReadiness step_readiness,
    "../step-queue.rs" StepQueue step_queue,
    "../step-wakers.rs" StepWakers step_wakers,
    "../step-original.rs" StepOriginal step_original,
    "../nonbox.rs" #[default] Nonbox nonbox,
    "../callerbox.rs" Callerbox callerbox,
    "../large-nonbox.rs" LargeNonbox large_nonbox,
    "../box.rs" Box boxed,
    "../box-callerbox.rs" BoxCallerbox box_callerbox,
    "../large-box.rs" LargeBox large_box,
    "../box-rc.rs" BoxRc box_rc,
    "../box-chkrc.rs" BoxChkrc box_chkrc,
    "../box-arc.rs" BoxArc box_arc,
    "../arc-task.rs" ArcTask arc_task,
    "../state-machine.rs" StateMachine state_machine,
}
