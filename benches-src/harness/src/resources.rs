//! What a cell needs of the machine, and how it says that it cannot have it.

use std::fs::File;
use std::os::fd::AsRawFd;

use anyhow::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// An error that means: this machine cannot run this cell, for this reason. The program still prints its observation,
/// with the reason in place of the samples.
#[derive(Debug)]
pub struct Unavailable(pub(crate) String);

impl Unavailable {
    /// The error, ready to be returned from a set-up.
    pub fn because(reason: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self(reason.into()))
    }
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unavailable, because {}", self.0)
    }
}

impl std::error::Error for Unavailable {}

/// Makes sure that `count` more descriptors can be opened, and grows the descriptor table to hold them. In a process of
/// many threads the kernel grows that table only after a grace period of tens of milliseconds (tokio issue #2702).
pub fn reserve_descriptors(count: usize) -> Result<()> {
    const FOR_THE_PROCESS_ITSELF: usize = 24;
    let needed = (count + FOR_THE_PROCESS_ITSELF) as u64;
    let limit = getrlimit(Resource::Nofile).maximum;
    if limit.is_some_and(|limit| limit < needed) {
        let limit = limit.unwrap_or_default();
        return Err(Unavailable::because(format!(
            "it needs {needed} file descriptors and the hard limit is {limit} (as root: prlimit --nofile={needed} --pid $$)"
        )));
    }
    let any = File::open("/dev/null")?;
    // SAFETY: F_DUPFD_CLOEXEC takes a valid descriptor, which `any` keeps open, and a number; it touches no memory of ours.
    let highest = unsafe { libc::fcntl(any.as_raw_fd(), libc::F_DUPFD_CLOEXEC, needed as libc::c_int - 1) };
    if highest < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: `highest` was just opened by fcntl and is known to nobody else, so closing it can take it from no owner.
    unsafe { libc::close(highest) };
    Ok(())
}

/// Raises the soft descriptor limit to the hard one.
pub(crate) fn raise_descriptor_limit() -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    Ok(setrlimit(Resource::Nofile, raised)?)
}
