//! One operation: one thread of the C library, with a small stack and nothing else, alive at once with all before it.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use limits::{Crowd, Needs, Stack, here, map_second_stack, settled};
use serde::{Deserialize, Serialize};

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

struct Pthreads(Parameters, libc::pthread_attr_t);

impl Crowd for Pthreads {
    type Parameters = Parameters;
    const NEEDS: Needs = Needs::PTHREAD;

    fn needs(parameters: &Parameters) -> Needs {
        let of_second_stack = match parameters.second_stack {
            SecondStack::None => 0,
            // It may join a neighbour, and then takes none.
            SecondStack::Plain => 1,
            SecondStack::Guarded => 2,
        };
        Needs { mappings: Self::NEEDS.mappings + of_second_stack, ..Self::NEEDS }
    }

    fn start(parameters: &Parameters) -> Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: `init` writes attributes that are whole, `setstacksize` changes them; nobody else has them.
        let failed = unsafe {
            libc::pthread_attr_init(attributes.as_mut_ptr())
                | libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), parameters.stack.stack_bytes as usize)
        };
        ensure!(failed == 0, "the C library refuses stacks of {} bytes", parameters.stack.stack_bytes);
        // SAFETY: written above, since nothing failed.
        Ok(Self(*parameters, unsafe { attributes.assume_init() }))
    }

    fn add(&mut self) -> io::Result<()> {
        let mut id = 0;
        let second = ptr::without_provenance_mut(self.0.second_stack as usize);
        // SAFETY: the attributes are whole; `live` takes an argument that is a number, and borrows nothing.
        match unsafe { libc::pthread_create(&mut id, &self.1, live, second) } {
            0 => Ok(()),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }

    fn alive(&mut self, added: u64) -> Result<u64> {
        Ok(settled(added))
    }
}

extern "C" fn live(second: *mut c_void) -> *mut c_void {
    if second.addr() != SecondStack::None as usize && !map_second_stack(second.addr() == SecondStack::Guarded as usize)
    {
        // Across the boundary to C no panic goes: it ends the process, as in the standard library's own threads.
        panic!("a second stack cannot be mapped");
    }
    here();
    loop {
        // SAFETY: it takes nothing and returns after a signal handler ran, if ever.
        unsafe { libc::pause() };
    }
}

fn main() -> ExitCode {
    limits::reach::<Pthreads>(harness::name!())
}
