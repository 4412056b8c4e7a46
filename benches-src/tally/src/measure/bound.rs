//! Processes that end with the one that started them, however that ends: who kills a build wants nothing of it left running. Those that they
//! start in turn, as strace does what it looks at, end with them where they see to it.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, id};

use anyhow::{Context, Result, ensure};
use rustix::param::linux_execfn;
use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit};

use crate::answered::answered;

/// The verb by which tally becomes another program.
const BECOME: &str = "become";

/// A command for a program, to which its arguments are still to be added. tally is started, has the kernel end it with this process, and then
/// becomes the program: the same process, which keeps that.
pub fn bound(tally: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(tally);
    command.args([BECOME, &id().to_string()]).arg(program);
    command
}

/// The exit status of tally where it cannot become the program, as shells have it.
pub const CANNOT_START: i32 = 127;

/// tally's own executable as it runs, though a build may have put another in its place since. Where
/// /proc is not there or is another namespace's, in which other processes have these numbers, it is
/// the path by which this process was started.
pub fn own_executable() -> PathBuf {
    let running = PathBuf::from(format!("/proc/{}/exe", id()));
    let is_own = fs::read_link("/proc/self").is_ok_and(|own| own == Path::new(&id().to_string()));
    if is_own && running.exists() { running } else { absolute(started_by()).unwrap_or(running) }
}

fn started_by() -> &'static Path {
    Path::new(OsStr::from_bytes(linux_execfn().to_bytes()))
}

/// valgrind puts its own descriptors above all others that there may be, and where that are a thousand million, as in some containers, the kernel
/// has no room for the table of them. Who needs more than this raises the limit.
const MANY_DESCRIPTORS: u64 = 1 << 20;

fn keep_descriptors_few() {
    if let Some(limit) = answered(|| getrlimit(Resource::Nofile)).and_then(few) {
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// What a limit of descriptors is lowered to, if it is.
fn few(limit: Rlimit) -> Option<Rlimit> {
    let are_many = limit.current.is_none_or(|soft| soft > MANY_DESCRIPTORS);
    are_many.then_some(Rlimit { current: Some(MANY_DESCRIPTORS), ..limit })
}

/// Becomes a program that ends when this process ends, which is the parent now.
pub fn become_bound(parent: u32, program: &OsStr, arguments: &[std::ffi::OsString]) -> Result<Infallible> {
    // Where a sandbox refuses the signal, a program that does not end by itself outlives tally, and
    // measures all the same.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    keep_descriptors_few();
    // Where the parent ended before the signal was asked for, it will never come.
    let has_ended = answered(getppid).is_some_and(|now| now != Pid::from_raw(parent.cast_signed()));
    ensure!(!has_ended, "the process that was to be waited for has ended");
    Err(Command::new(program).args(arguments).exec()).with_context(|| format!("cannot start {}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_for_which_valgrind_has_no_room_is_lowered_and_can_be_raised_again() {
        let limit = |soft, hard| Rlimit { current: soft, maximum: hard };
        let container = Some(1_073_741_816);
        assert_eq!(few(limit(container, container)), Some(limit(Some(1 << 20), container)));
        assert_eq!(few(limit(None, None)), Some(limit(Some(1 << 20), None)));
        assert_eq!(few(limit(Some(1 << 20), container)), None);
        assert_eq!(few(limit(Some(1024), Some(4096))), None);
    }
}
