//! One operation: one thread of the C library, with a small stack and nothing else, alive at once with all before it.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;

use anyhow::Result;
use clap::{Args, ValueEnum};
use limits::{Climb, Needs, Stack, attributes, here, map_second_stack, settled};
use serde::{Deserialize, Serialize};

fn reach_pthread(parameters: Parameters, climb: Climb) -> Result<()> {
    let attributes = attributes(parameters.stack)?;
    let second = ptr::without_provenance_mut(parameters.second_stack as usize);
    let top = climb.add_units(|| {
        let mut id = MaybeUninit::uninit();
        // SAFETY: the attributes are whole; `live` takes an argument that is a number, and borrows nothing.
        match unsafe { libc::pthread_create(id.as_mut_ptr(), &attributes, live, second) } {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    })?;
    let alive = settled(top.added);
    top.report(alive)
}

extern "C" fn live(second: *mut c_void) -> *mut c_void {
    if second.addr() != SecondStack::None as usize && !map_second_stack(second.addr() == SecondStack::Guarded as usize)
    {
        // Across the boundary to C no panic goes: it ends the process, as in the standard library's own threads.
        panic!("a second stack cannot be mapped");
    }
    here();
    loop {
        // SAFETY: they take no memory of ours, and return after a signal handler ran, if ever. The first may be
        // refused, and then the second waits.
        unsafe {
            libc::pause();
            libc::sleep(1);
        }
    }
}

#[derive(Args, Serialize, Deserialize, Clone, Copy)]
struct Parameters {
    #[command(flatten)]
    #[serde(flatten)]
    stack: Stack,
    /// A second stack, on which the standard library handles signals
    #[arg(long, value_enum, default_value_t)]
    second_stack: SecondStack,
}

#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SecondStack {
    /// Without one
    #[default]
    None,
    /// One without a guard page, as the standard library had it before it guarded them
    Plain,
    /// One with a guard page, as it has it now
    Guarded,
}

fn needs(parameters: &Parameters) -> Needs {
    let of_second_stack = match parameters.second_stack {
        SecondStack::None => 0,
        // It may join a neighbour, and then takes none.
        SecondStack::Plain => 1,
        SecondStack::Guarded => 2,
    };
    Needs { mappings: Needs::PTHREAD.mappings + of_second_stack, ..Needs::PTHREAD }
}

fn main() -> ExitCode {
    limits::reach(harness::name!(), needs, reach_pthread)
}
