//! What a program needs of the machine before it can begin: descriptors, threads, other people's tools. What it cannot have makes its cell
//! unavailable, with the reason, and is no failure.

pub mod cgroups;
pub mod fields;
pub mod tool;

use std::fs::File;
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::Result;
use harness::Unavailable;
use rustix::process::Resource;

use cgroups::Groups;

/// Makes sure that `count` more descriptors can be opened, and grows the descriptor table to hold them. In a process of
/// many threads the kernel grows that table only after a grace period of tens of milliseconds (tokio issue #2702).
pub fn reserve_descriptors(count: usize) -> Result<()> {
    const FOR_THE_PROCESS_ITSELF: usize = 24;
    let needed = (count + FOR_THE_PROCESS_ITSELF) as u64;
    if let Some(limit) = limit(Resource::Nofile).map(|limit| limit.rlim_max).filter(|limit| *limit < needed) {
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

/// Makes sure that this process can connect to itself `count` times over TCP: a network namespace need not have a loopback device that is up.
pub fn reserve_connections(count: usize) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    TcpStream::connect(listener.local_addr()?).map_err(|error| {
        Unavailable::because(format!("nothing can connect to 127.0.0.1 here: {error} (as root: ip link set lo up)"))
    })?;
    let range = std::fs::read_to_string(PORTS).unwrap_or_default();
    match range.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>().as_deref() {
        Ok([first, last]) if last + 1 < first + count => Err(Unavailable::because(format!(
            "it needs {count} ports, and net.ipv4.ip_local_port_range has those from {first} to {last} \
             (as root: sysctl net.ipv4.ip_local_port_range='32768 60999')"
        ))),
        _ => Ok(()),
    }
}

const PORTS: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// Makes sure that `count` more threads can be started: a limit that is met halfway may abort the process instead of
/// giving an error (rust-lang/rust#78497). What exists already is taken from each limit, whoever's it is.
pub fn reserve_threads(count: usize) -> Result<()> {
    // The stack, its guard page, the stack for signals and the guard page of that.
    const MAPPINGS_OF_A_THREAD: u64 = 4;
    let (existing, mappings) = (existing_threads(), lines_of("/proc/self/maps"));
    let processes = limit(Resource::Nproc).map_or(u64::MAX, |limit| limit.rlim_cur);
    let limits = [
        ("vm.max_map_count", number_in("/proc/sys/vm/max_map_count").saturating_sub(mappings) / MAPPINGS_OF_A_THREAD),
        ("kernel.pid_max", number_in("/proc/sys/kernel/pid_max").saturating_sub(existing)),
        ("kernel.threads-max", number_in("/proc/sys/kernel/threads-max").saturating_sub(existing)),
        ("the limit of processes (ulimit -u)", processes.saturating_sub(existing)),
        ("a control group's pids.max", left_in_groups()),
    ];
    let (name, left) = limits.into_iter().min_by_key(|(_, left)| *left).expect("there are five");
    if left < count as u64 {
        return Err(Unavailable::because(format!(
            "it needs {count} threads, and {name} allows for {left} more at most"
        )));
    }
    Ok(())
}

/// What this process may have of something. None where the system does not say, as a sandbox may
/// have it: rustix takes an answer for granted, and would hand on what was never written.
pub fn limit(resource: Resource) -> Option<libc::rlimit> {
    let mut limit = MaybeUninit::uninit();
    // SAFETY: getrlimit writes a whole `rlimit` to a place that is valid and aligned for one, or
    // writes nothing and says so.
    let is_known = unsafe { libc::getrlimit(resource as _, limit.as_mut_ptr()) } == 0;
    // SAFETY: it said that it wrote all of it.
    is_known.then(|| unsafe { limit.assume_init() })
}

/// What the control groups of this process leave it. A container's manager often sets a limit.
fn left_in_groups() -> u64 {
    let groups = Groups::of("pids", Path::new("/proc"), Path::new("/sys/fs/cgroup"));
    groups.map_or(u64::MAX, |groups| left_in(&groups.folders))
}

/// What is left in the group that leaves least; none has a number there that sets no limit.
fn left_in(groups: &[PathBuf]) -> u64 {
    let left =
        |folder: &PathBuf| Some(number(folder.join("pids.max"))?.saturating_sub(number(folder.join("pids.current"))?));
    groups.iter().filter_map(left).min().unwrap_or(u64::MAX)
}

/// Threads of the whole machine, the second number of the fourth field; none where that cannot be read.
fn existing_threads() -> u64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().nth(3).and_then(|field| field.split('/').nth(1)?.parse().ok()).unwrap_or(0)
}

fn lines_of(path: &str) -> u64 {
    std::fs::read_to_string(path).unwrap_or_default().lines().count() as u64
}

/// A limit that cannot be read is none that we know of.
fn number_in(path: &str) -> u64 {
    number(path).unwrap_or(u64::MAX)
}

fn number(path: impl AsRef<Path>) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_that_the_kernel_lists() {
        let listed = std::fs::read_to_string("/proc/self/limits").unwrap();
        for (resource, name) in [(Resource::Nofile, "Max open files"), (Resource::Nproc, "Max processes")] {
            let line = listed.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let number = |word: &str| if word == "unlimited" { u64::MAX } else { word.parse().unwrap() };
            let listed: Vec<u64> = line.split_whitespace().take(2).map(number).collect();
            let limit = limit(resource).unwrap();
            assert_eq!([limit.rlim_cur, limit.rlim_max], listed[..], "{name}");
        }
    }

    #[test]
    fn the_control_group_that_leaves_least_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = |name: &str, files: &[(&str, &str)]| {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            files.iter().for_each(|(file, text)| std::fs::write(folder.join(file), text).unwrap());
            folder
        };
        let without = group("root", &[]);
        let unlimited = group("unlimited", &[("pids.max", "max\n"), ("pids.current", "7\n")]);
        let narrow = group("narrow", &[("pids.max", "100\n"), ("pids.current", "70\n")]);
        let full = group("full", &[("pids.max", "5\n"), ("pids.current", "6\n")]);
        assert_eq!(left_in(&[unlimited.clone(), without]), u64::MAX);
        assert_eq!(left_in(&[unlimited.clone(), narrow.clone()]), 30);
        assert_eq!(left_in(&[full, unlimited, narrow]), 0);
    }
}
