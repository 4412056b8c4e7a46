//! Threads of the C library, without what the standard library adds.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use anyhow::Result;
use harness::Laps;

use crate::{Batch, Until};

/// Creates threads one batch after the other, and joins each batch before the next one; how many have ended.
#[inline]
pub fn run(batch: Batch, laps: Laps, mut create: impl FnMut() -> Result<Thread>) -> Result<u64> {
    let (mut batches, mut threads) = (batch.laps(laps), batch.room());
    while batches.go_on() {
        batches.create(&mut threads, &mut create)?;
        for thread in threads.drain(..) {
            batches.ended(thread.join()?);
        }
    }
    Ok(batches.count())
}

/// A thread that has not been joined. Whoever drops it waits for its end, so that nobody takes its stack from under it.
pub struct Thread(libc::pthread_t);

impl Thread {
    /// Creates a thread that does its first instruction and ends.
    ///
    /// # Safety
    ///
    /// Where the attributes name a stack, it is no other thread's, and stays mapped, until this one has been joined.
    #[inline]
    pub unsafe fn create(attributes: &Attributes, until: Until) -> Result<Self> {
        let argument = ptr::without_provenance_mut(usize::from(until == Until::Started));
        let mut created = MaybeUninit::uninit();
        // SAFETY: attributes are initialised by their type, and a stack that they name is free to use by this function's own
        // contract; `thread` is a function of the type that is asked for, it does not unwind, and it treats its argument as a
        // number, so that nothing else needs to outlive this call.
        checked(unsafe { libc::pthread_create(created.as_mut_ptr(), &raw const attributes.0, thread, argument) })?;
        // SAFETY: pthread_create returned 0, so it has written the thread's id.
        Ok(Self(unsafe { created.assume_init() }))
    }

    /// Waits for its end; when it did its first instruction.
    #[inline]
    pub fn join(self) -> Result<u64> {
        ManuallyDrop::new(self).ended()
    }

    fn ended(&self) -> Result<u64> {
        let mut first_instruction_ns = ptr::null_mut();
        // SAFETY: a `Thread` is created joinable, its id has no second owner, and this is called once: by whoever consumes it, who
        // then does not drop it, or by whoever drops it.
        checked(unsafe { libc::pthread_join(self.0, &raw mut first_instruction_ns) })?;
        Ok(first_instruction_ns.addr() as u64)
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Only where something else has failed before, which is then reported.
        drop(self.ended());
    }
}

/// The whole thread. What it was given and what it gives back are numbers in the place of pointers.
extern "C" fn thread(until: *mut c_void) -> *mut c_void {
    let until = if until.is_null() { Until::Joined } else { Until::Started };
    ptr::without_provenance_mut(until.first_instruction() as usize)
}

/// What a thread is created with.
pub struct Attributes(libc::pthread_attr_t);

impl Attributes {
    /// A stack of this size, which the C library maps or has kept.
    pub fn of_size(stack_bytes: usize) -> Result<Self> {
        let mut attributes = Self::new()?;
        // SAFETY: the attributes are initialised and borrowed for this call alone.
        checked(unsafe { libc::pthread_attr_setstacksize(&raw mut attributes.0, stack_bytes) })?;
        Ok(attributes)
    }

    /// This very stack, given by its lowest address. The C library leaves its mapping alone, before and after.
    pub fn of_stack(lowest: NonNull<c_void>, stack_bytes: usize) -> Result<Self> {
        let mut attributes = Self::new()?;
        // SAFETY: the attributes are initialised and borrowed for this call alone, which notes an address and does not follow it.
        checked(unsafe { libc::pthread_attr_setstack(&raw mut attributes.0, lowest.as_ptr(), stack_bytes) })?;
        Ok(attributes)
    }

    fn new() -> Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: pthread_attr_init writes a whole set of attributes through a pointer that is valid for that.
        checked(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: it returned 0, so the attributes are initialised.
        Ok(Self(unsafe { attributes.assume_init() }))
    }
}

fn checked(error: c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
