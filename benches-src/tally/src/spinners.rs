//! Spinners: on every CPU that this process may use, a process that never sleeps and gives way to every other, so that no
//! CPU goes idle. They are processes of their own, so that no counter of what is measured contains them.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Processes that spin until this is dropped.
pub struct Spinners(Vec<Child>);

/// What a spinner says once it has its CPU and its class.
const READY: &str = "spinning";

impl Spinners {
    /// Starts one on every allowed CPU, as `tally spin CPU`. Returns once all spin; the inner error is why they cannot.
    pub fn start(tally: &Path) -> Result<Result<Self, String>> {
        let allowed = sched_getaffinity(None).context("the allowed CPUs cannot be read")?;
        let mut spinners = Self(Vec::new());
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            let mut command = Command::new(tally);
            command.args(["spin", &cpu.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            die_with_this_process(&mut command);
            let child = command.spawn().with_context(|| format!("cannot start {}", tally.display()))?;
            spinners.0.push(child);
        }
        for child in &mut spinners.0 {
            let mut said = String::new();
            BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut said)?;
            if said.trim() != READY {
                return Ok(Err(format!("no spinner can be started: {}", said.trim())));
            }
        }
        Ok(Ok(spinners))
    }

    /// Whether every one of them still spins.
    pub fn all_spin(&mut self) -> Result<bool> {
        let mut all = true;
        for child in &mut self.0 {
            all &= child.try_wait()?.is_none();
        }
        Ok(all)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        // One that has ended by itself can be neither killed nor missed, but has to be reaped like the others.
        self.0.iter_mut().for_each(|child| drop(child.kill()));
        self.0.iter_mut().for_each(|child| drop(child.wait()));
    }
}

/// What a spinner does, for ever. Says so first, or why it cannot.
pub fn spin(cpu: usize) -> Result<Infallible> {
    let said = match give_way(cpu) {
        Ok(()) => READY.to_owned(),
        Err(error) => format!("{error:#}"),
    };
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{said}")?;
    stdout.flush()?;
    anyhow::ensure!(said == READY, "{said}");
    loop {
        std::hint::spin_loop();
    }
}

/// Stays on one CPU and takes only time that nobody else wants there. Neither needs root.
fn give_way(cpu: usize) -> Result<()> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).with_context(|| format!("a process cannot be pinned to CPU {cpu}"))?;
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the call reads the parameters, which live until it returns, and changes the class of this thread alone.
    let status = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) };
    if status != 0 {
        return Err(std::io::Error::last_os_error()).context("the scheduling class SCHED_IDLE cannot be set");
    }
    Ok(())
}

/// What this command starts is killed when this process ends, however it ends.
pub fn die_with_this_process(command: &mut Command) {
    let this = Pid::from_raw(std::process::id().cast_signed());
    // SAFETY: the closure runs between fork and exec in the child and makes two system calls, which touch no memory and
    // take no lock.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // Where this process ended before the signal was asked for, it will never come.
            if getppid() == this { Ok(()) } else { Err(std::io::ErrorKind::NotFound.into()) }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn spinners_that_cannot_spin_say_why_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken");
        std::fs::write(&broken, "#!/bin/sh\necho 'the class is <refused>'\nexit 1\n").unwrap();
        std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
        let reason = Spinners::start(&broken).unwrap().err().unwrap();
        assert_eq!(reason, "no spinner can be started: the class is <refused>");
        let nowhere = Spinners::start(Path::new("/nowhere")).err().unwrap();
        assert!(nowhere.to_string().contains("cannot start /nowhere"), "{nowhere}");
    }
}
