//! One operation: one thread held that the C library started, without what Rust's standard library adds.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;

use anyhow::Result;
use libc::pthread_t;
use memory::{Climb, Counting, Gate, Held, Threads};
use resources::reserve_threads;

static GATE: Gate = Gate::new();

fn hold_pthread(parameters: Threads, climb: Climb) -> Result<()> {
    parameters.needs_no_touch()?;
    reserve_threads(parameters.most())?;
    let mut threads = Vec::with_capacity(parameters.most());
    let climbed = climb.add_units(|held, next| {
        for _ in held..next {
            threads.push(start(parameters.stack_bytes())?);
        }
        GATE.await_arrivals(next)
    });
    GATE.open();
    for thread in threads {
        // SAFETY: it was started by us, is joinable, and is joined once.
        unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    }
    climbed
}

extern "C" fn hold(_: *mut c_void) -> *mut c_void {
    GATE.wait();
    ptr::null_mut()
}

/// Starts one with such a stack.
fn start(stack_bytes: usize) -> io::Result<pthread_t> {
    let mut attributes = MaybeUninit::uninit();
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the attributes are initialised by the first call, read by the others, and destroyed by the last. `hold` has the
    // type that is asked for, lives as long as the program, and uses nothing of what it is given. The thread's name is taken
    // only if the call that writes it succeeded.
    unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        let refused =
            if stack_bytes > 0 { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack_bytes) } else { 0 };
        let error = match refused {
            0 => libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), hold, ptr::null_mut()),
            number => number,
        };
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if error == 0 { Ok(thread.assume_init()) } else { Err(io::Error::from_raw_os_error(error)) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

fn main() -> ExitCode {
    memory::climb(harness::name!(), hold_pthread)
}
