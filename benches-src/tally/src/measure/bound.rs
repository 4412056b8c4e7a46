//! Processes that end with the one that started them, however that ends: who kills a build wants nothing of it left running. Those that they
//! start in turn, as strace does what it looks at, end with them where they see to it.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, id};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit};

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

/// tally's own executable as it runs, though a build may have put another in its place since.
pub fn own_executable() -> PathBuf {
    format!("/proc/{}/exe", id()).into()
}

/// valgrind puts its own descriptors above all others that there may be, and where that are a thousand million, as in some containers, the kernel
/// has no room for the table of them. Who needs more than this raises the limit.
const MANY_DESCRIPTORS: u64 = 1 << 20;

fn keep_descriptors_few() -> Result<()> {
    few(getrlimit(Resource::Nofile)).map_or(Ok(()), |limit| Ok(setrlimit(Resource::Nofile, limit)?))
}

/// What a limit of descriptors is lowered to, if it is.
fn few(limit: Rlimit) -> Option<Rlimit> {
    let are_many = limit.current.is_none_or(|soft| soft > MANY_DESCRIPTORS);
    are_many.then_some(Rlimit { current: Some(MANY_DESCRIPTORS), ..limit })
}

/// Becomes a program that ends when this process ends, which is the parent now.
pub fn become_bound(parent: u32, program: &OsStr, arguments: &[std::ffi::OsString]) -> Result<Infallible> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    keep_descriptors_few()?;
    // Where the parent ended before the signal was asked for, it will never come.
    ensure!(getppid() == Pid::from_raw(parent.cast_signed()), "the process that was to be waited for has ended");
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
