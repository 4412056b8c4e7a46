//! Memory that is taken before anything is counted, so that what comes after is counted.
//!
//! Each CPU keeps free pages for itself, often a hundred MiB of them, which nobody counts as available. A process that takes
//! those seems to take nothing. Only root may see how many there are; whoever may not can take them first, and keep them.

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Takes pages on each CPU in turn until available memory falls by what is taken, or until there is no room for more.
pub fn take(available_bytes: impl Fn() -> Result<u64>, room: impl Fn() -> Result<bool>) -> Result<Vec<Vec<u8>>> {
    const CHUNK_BYTES: usize = 8 << 20;
    let allowed = sched_getaffinity(None)?;
    let mut ballast = Vec::new();
    for cpu in (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)) {
        let mut here = CpuSet::new();
        here.set(cpu);
        sched_setaffinity(None, &here)?;
        let mut counted = 0;
        // Twice, since others take and give back memory, too.
        while counted < 2 && room()? {
            let before = available_bytes()?;
            let mut chunk = vec![0; CHUNK_BYTES];
            crate::touch(&mut chunk);
            ballast.push(chunk);
            counted =
                if before.saturating_sub(available_bytes()?) > CHUNK_BYTES as u64 / 4 * 3 { counted + 1 } else { 0 };
        }
    }
    sched_setaffinity(None, &allowed)?;
    Ok(ballast)
}
