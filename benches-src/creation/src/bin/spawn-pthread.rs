//! One operation: one thread created by `pthread_create` alone, without what the standard library adds; it ends at once and is joined.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr;

use anyhow::Result;
use creation::{BatchOfStacks, Until};
use harness::{Laps, Placement, Repeat, reserve_threads};

struct SpawnPthread {
    parameters: BatchOfStacks,
    attributes: libc::pthread_attr_t,
    ended: u64,
}

impl Repeat for SpawnPthread {
    type Parameters = BatchOfStacks;

    fn set_up(parameters: &BatchOfStacks, _: Placement) -> Result<Self> {
        reserve_threads(parameters.batch.batch as usize)?;
        Ok(Self { parameters: *parameters, attributes: attributes(parameters.stack_bytes as usize)?, ended: 0 })
    }

    fn operations_per_lap(&self) -> u64 {
        self.parameters.batch.batch
    }

    fn run(&mut self, laps: Laps) -> Result<()> {
        let batch = self.parameters.batch;
        let (mut batches, mut threads) = (batch.laps(laps), batch.room());
        while batches.go_on() {
            batches.create(&mut threads, || create(&self.attributes, batch.until))?;
            for thread in threads.drain(..) {
                batches.ended(join(thread)?);
            }
        }
        self.ended += batches.count();
        Ok(())
    }

    fn finish(self) -> Result<u64> {
        Ok(self.ended)
    }
}

/// The whole thread. What it was given and what it gives back are numbers in the place of pointers.
extern "C" fn thread(until: *mut c_void) -> *mut c_void {
    let until = if until.is_null() { Until::Joined } else { Until::Started };
    ptr::without_provenance_mut(until.first_instruction() as usize)
}

fn create(attributes: &libc::pthread_attr_t, until: Until) -> Result<libc::pthread_t> {
    let argument = ptr::without_provenance_mut(usize::from(until == Until::Started));
    let mut created = MaybeUninit::uninit();
    // SAFETY: the attributes were initialised by `attributes`; `thread` is a function of the type that is asked for, it does
    // not unwind, and it treats its argument as a number, so that nothing needs to outlive this call.
    checked(unsafe { libc::pthread_create(created.as_mut_ptr(), attributes, thread, argument) })?;
    // SAFETY: pthread_create returned 0, so it has written the thread's id.
    Ok(unsafe { created.assume_init() })
}

fn join(thread: libc::pthread_t) -> Result<u64> {
    let mut first_instruction_ns = ptr::null_mut();
    // SAFETY: this thread was created joinable and is joined here only, since its id is moved out of the list.
    checked(unsafe { libc::pthread_join(thread, &raw mut first_instruction_ns) })?;
    Ok(first_instruction_ns.addr() as u64)
}

fn attributes(stack_bytes: usize) -> Result<libc::pthread_attr_t> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: pthread_attr_init writes a whole set of attributes through a pointer that is valid for that.
    checked(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
    // SAFETY: it returned 0, so the attributes are initialised.
    let mut attributes = unsafe { attributes.assume_init() };
    // SAFETY: the attributes are initialised and borrowed for this call alone.
    checked(unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, stack_bytes) })?;
    Ok(attributes)
}

fn checked(error: c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

fn main() -> ExitCode {
    harness::repeat::<SpawnPthread>(harness::name!())
}
