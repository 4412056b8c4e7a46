//! Background load: processes that run while a program is measured. They have the lowest priority
//! and end with tally. No counter of the measured program contains them, since they are no threads
//! of it.

use std::convert::Infallible;
use std::hint::{black_box, spin_loop};
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result};

use super::child::tied;
use super::counted;
use crate::book::neighbour::Kind;
use crate::measure::core_to_core::{allowed_cpus, line_ns, stay_on};
use crate::record::processors::{self, APART_NS};

/// Processes that run until this is dropped.
pub struct Background {
    processes: Vec<Child>,
    /// The CPUs that have to share a cache.
    sharing: Option<(usize, usize)>,
}

/// Starts a process of the lowest priority.
pub(super) const GIVES_WAY: &str = "chrt";

/// What a process prints once it has its CPU and its memory.
const READY: &str = "ready";

impl Background {
    /// Starts them, each as a command of tally's own. Returns once all have begun; the inner error
    /// is why they cannot.
    pub fn start(tally: &Path, kind: Kind) -> Result<Result<Self, String>> {
        let allowed = match allowed_cpus() {
            Ok(allowed) => allowed,
            Err(error) => return Ok(Err(format!("the CPUs that this process may use cannot be read: {error}"))),
        };
        let (commands, sharing) = match kind {
            Kind::Spinners => (allowed.iter().map(|cpu| vec!["spin".to_owned(), cpu.to_string()]).collect(), None),
            Kind::Streamer => match streamer(&allowed) {
                Ok((command, cpus)) => (vec![command], Some(cpus)),
                Err(reason) => return Ok(Err(reason)),
            },
        };
        if let Err(reason) = share_a_cache(sharing) {
            return Ok(Err(reason));
        }
        if counted::find(GIVES_WAY).is_none() {
            return Ok(Err(counted::lacking(GIVES_WAY, "util-linux")));
        }
        let mut background = Self { processes: Vec::new(), sharing };
        for arguments in commands {
            // In the class SCHED_IDLE it takes only time that nobody else wants. Neither that nor a
            // CPU of its own needs root.
            let mut command = tied(tally, GIVES_WAY);
            command.args(["--idle", "0"]).arg(tally).args(arguments);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().with_context(|| format!("cannot start {}", tally.display()))?;
            background.processes.push(child);
        }
        for child in &mut background.processes {
            let mut said = String::new();
            BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut said)?;
            if said.trim() != READY {
                if said.is_empty() {
                    // Then it has ended, and chrt says by the other way why it could not.
                    BufReader::new(child.stderr.as_mut().expect("piped")).read_line(&mut said)?;
                }
                return Ok(Err(format!("no neighbour can be started: {}", said.trim())));
            }
        }
        Ok(Ok(background))
    }

    /// Whether they ran until now; the inner error is why not.
    pub fn ran_until_now(&mut self) -> Result<Result<(), String>> {
        for child in &mut self.processes {
            if child.try_wait()?.is_some() {
                return Ok(Err("a neighbour ended before the program did".to_owned()));
            }
        }
        Ok(share_a_cache(self.sharing))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // One that has ended by itself can be neither killed nor missed, but has to be reaped like
        // the others.
        self.processes.iter_mut().for_each(|child| drop(child.kill()));
        self.processes.iter_mut().for_each(|child| drop(child.wait()));
    }
}

/// The command of one that reads through four times the cache that the first of these CPUs has in
/// common with another of them, and those two. Threads of one core would share more than that
/// cache.
fn streamer(allowed: &[usize]) -> Result<(Vec<String>, (usize, usize)), String> {
    let first = *allowed.first().ok_or("this process may use no CPU")?;
    let cache = processors::last_cache(first).ok_or("the kernel does not say which CPUs share a cache")?;
    let bytes = cache.bytes().ok_or("the kernel does not say how much the last cache holds")?;
    let core = processors::same_core(first);
    let another = |cpu: &&usize| cache.cpus.contains(cpu) && !core.contains(cpu);
    let cpu = allowed
        .iter()
        .find(another)
        .ok_or("no second core that this process may use shares the first one's last cache")?;
    let command = vec!["stream".to_owned(), cpu.to_string(), ((4.0 * bytes) as usize).to_string()];
    Ok((command, (first, *cpu)))
}

/// Whether the CPUs that have to share a cache do: a virtual machine's kernel does not know on
/// which cores its host runs them.
fn share_a_cache(cpus: Option<(usize, usize)>) -> Result<(), String> {
    let Some((one, other)) = cpus else { return Ok(()) };
    match line_ns(one, other) {
        Ok(ns) if ns < APART_NS => Ok(()),
        Ok(_) => Err(NOT_SHARED.to_owned()),
        Err(error) => Err(format!("how far apart two CPUs are cannot be found out: {error}")),
    }
}

/// Why there is no neighbour that could take a cache away.
const NOT_SHARED: &str = "the host ran the two CPUs on cores that share no cache";

/// What a spinner does, for ever.
pub fn spin(cpu: usize) -> Result<Infallible> {
    begin(keep_to(cpu))?;
    loop {
        spin_loop();
    }
}

/// What a streamer does, for ever.
pub fn stream(cpu: usize, bytes: usize) -> Result<Infallible> {
    let memory = begin(keep_to(cpu).and_then(|()| written(bytes)))?;
    loop {
        black_box(memory.iter().step_by(LINE_BYTES / size_of::<u64>()).fold(0, |all, word| all ^ word));
    }
}

/// Of a cache, on all processors that this book has seen.
const LINE_BYTES: usize = 64;

/// Memory with something in it: what was never written, the kernel may back with one page of zeros.
fn written(bytes: usize) -> Result<Vec<u64>> {
    let mut memory = Vec::new();
    let words = bytes / size_of::<u64>();
    memory.try_reserve_exact(words).with_context(|| format!("{bytes} bytes of memory cannot be had"))?;
    memory.resize(words, 1);
    Ok(memory)
}

fn keep_to(cpu: usize) -> Result<()> {
    stay_on(cpu).with_context(|| format!("a process cannot be pinned to CPU {cpu}"))
}

/// Says that all is ready, or why it is not.
fn begin<T>(prepared: Result<T>) -> Result<T> {
    let said = prepared.as_ref().map_or_else(|error| format!("{error:#}"), |_| READY.to_owned());
    let mut stdout = stdout();
    writeln!(stdout, "{said}")?;
    stdout.flush()?;
    prepared
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn neighbours_that_cannot_begin_say_why_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken");
        std::fs::write(&broken, "#!/bin/sh\necho 'the class is <refused>'\nexit 1\n").unwrap();
        std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
        let reason = Background::start(&broken, Kind::Spinners).unwrap().err().unwrap();
        assert_eq!(reason, "no neighbour can be started: the class is <refused>");
        let nowhere = Background::start(Path::new("/nowhere"), Kind::Spinners).err().unwrap();
        assert!(nowhere.to_string().contains("cannot start /nowhere"), "{nowhere}");
    }

    #[test]
    fn a_streamer_needs_a_core_beside_the_first() {
        assert_eq!(streamer(&[]), Err("this process may use no CPU".to_owned()));
        assert!(streamer(&[0]).is_err(), "the only one is what is measured");
    }

    #[test]
    fn what_is_streamed_is_as_large_as_was_asked_for_and_more_than_there_is_is_an_error() {
        assert_eq!(written(4096).unwrap().len() * size_of::<u64>(), 4096);
        assert!(written(usize::MAX / 2).unwrap_err().to_string().contains("cannot be had"));
    }
}
