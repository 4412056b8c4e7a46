//! Child processes that end with their parent, however that ends: killing a build leaves nothing
//! running. What a child starts in turn, as strace does, ends only if the child sees to it.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, id};

use anyhow::{Context, Result, ensure};
use rustix::param::linux_execfn;
use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit};

use crate::answered::answered;

/// The verb that executes another program in tally's place.
const EXEC_TIED: &str = "exec-tied";

/// A command for a program; the caller adds its arguments. The child is tally, asks the kernel to
/// be killed with this process, and executes the program, which inherits that.
pub fn tied(tally: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(tally);
    command.args([EXEC_TIED, &id().to_string()]).arg(program);
    command
}

/// The exit status where the program cannot be executed, as in a shell.
pub const CANNOT_START: i32 = 127;

/// tally's own executable as it runs, though a build may have put another in its place since. Where
/// /proc is not there or is another namespace's, in which other processes have these numbers, it is
/// the path by which this process was started.
pub fn own_executable() -> PathBuf {
    let running = PathBuf::from(format!("/proc/{}/exe", id()));
    let is_own = fs::read_link("/proc/self").is_ok_and(|own| own == Path::new(&id().to_string()));
    if is_own && running.exists() { running } else { absolute(started_by()).unwrap_or(running) }
}

/// What tells one build of tally from another. cargo links the same one anew now and then, and
/// changes nothing of it.
pub fn own_edition() -> Result<String> {
    let file = fs::metadata(own_executable())?;
    Ok(format!("tally {} {} {}", file.len(), file.mtime(), file.mtime_nsec()))
}

fn started_by() -> &'static Path {
    Path::new(OsStr::from_bytes(linux_execfn().to_bytes()))
}

/// valgrind puts its own descriptors above all others that there may be, and where that are a
/// thousand million, as in some containers, the kernel has no room for the table of them. Who needs
/// more than this raises the limit.
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

/// Executes a program in this process, which is killed when its parent ends.
pub fn exec_tied(parent: u32, program: &OsStr, arguments: &[std::ffi::OsString]) -> Result<Infallible> {
    // Where a sandbox refuses the signal, a program that does not end by itself outlives tally, and
    // measures all the same.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    keep_descriptors_few();
    // Where the parent ended before the signal was asked for, it will never come.
    let has_ended = answered(getppid).is_some_and(|now| now != Pid::from_raw(parent.cast_signed()));
    ensure!(!has_ended, "the parent has ended already");
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
