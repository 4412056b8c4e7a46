//! A machine's limits, as the kernel's files say them.

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Described, described};
use resources::cgroups::{Groups, Version};
use serde::{Deserialize, Serialize};

/// Where the kernel's files lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roots {
    /// Usually `/proc`.
    pub proc: PathBuf,
    /// Usually `/sys/fs/cgroup`.
    pub cgroup: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), cgroup: "/sys/fs/cgroup".into() }
    }
}

/// What a file says of a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// So much.
    Of(u64),
    /// There is none.
    Unlimited,
    /// It cannot be read, for this reason.
    Unknown(String),
}

impl Limit {
    /// The number, if there is one.
    pub fn known(&self) -> Option<u64> {
        if let Self::Of(value) = self { Some(*value) } else { None }
    }

    /// Why there is no number.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Of(_) => None,
            Self::Unlimited => Some("unlimited"),
            Self::Unknown(reason) => Some(reason),
        }
    }

    fn parsed(text: &str) -> Option<Self> {
        match text.trim() {
            "max" | "unlimited" | "-1" => Some(Self::Unlimited),
            // The first version's way of saying that there is none: all pages that a signed number can count.
            number => number.parse().ok().map(|n| if n >= 1 << 62 { Self::Unlimited } else { Self::Of(n) }),
        }
    }
}

/// A control group on the way from this process to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Where it lies. For use, never to be printed.
    pub folder: PathBuf,
    /// How many levels above the process's own group, which is 0.
    pub level: u64,
    /// What it allows, descendants included.
    pub max: Limit,
    /// What is used of that.
    pub current: u64,
}

impl Group {
    /// What is left of it.
    pub fn left(&self) -> Option<u64> {
        self.max.known().map(|max| max.saturating_sub(self.current))
    }
}

/// Every limit that this chapter speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// One above the largest process or thread id.
    pub pid_max: Limit,
    /// Threads of the whole system.
    pub threads_max: Limit,
    /// Mappings of one process.
    pub max_map_count: Limit,
    /// Threads of one user; the soft limit.
    pub nproc_soft: Limit,
    /// The hard one.
    pub nproc_hard: Limit,
    /// Whether this process is above that limit, as root is.
    pub nproc_exempt: bool,
    /// Descriptors of one process; the soft limit.
    pub nofile_soft: Limit,
    /// The hard one.
    pub nofile_hard: Limit,
    /// The largest hard limit that may be set.
    pub nr_open: Limit,
    /// Open files of the whole system.
    pub file_max: Limit,
    /// How many of them are open.
    pub files: u64,
    /// Descriptors that one user may have in epoll.
    pub epoll_watches: Limit,
    /// The default size of a thread's stack, of C programs.
    pub stack: Limit,
    /// The groups that can limit the number of threads, own first; or why they cannot be told.
    pub pids: Result<Vec<Group>, String>,
    /// 1 or 2: which version of control groups that is.
    pub pids_version: u64,
    /// The groups that can limit memory.
    pub memory: Result<Vec<Group>, String>,
    /// Bytes of memory.
    pub memory_total: Limit,
    /// Bytes that could be had without swapping.
    pub memory_available: Limit,
    /// 0: guess, 1: always, 2: never more than there is.
    pub overcommit: Limit,
    /// With the last of these, bytes of address space that may still be promised.
    pub promise_left: Limit,
    /// Threads that exist on the whole system.
    pub tasks: u64,
    /// Ids that are never given again once the numbers have wrapped around, and are free.
    pub ids_reserved: u64,
}

impl Machine {
    /// Reads all of them. What cannot be read is unknown, with the reason, and never an error.
    pub fn read(roots: &Roots) -> Self {
        let sysctl = |name: &str| limit_in(&roots.proc.join("sys").join(name), &format!("/proc/sys/{name}"));
        let (nproc_soft, nproc_hard) = of_process(&roots.proc, "Max processes");
        let (nofile_soft, nofile_hard) = of_process(&roots.proc, "Max open files");
        let memory = |name| kibibytes(&roots.proc, name);
        let promise_left = match (memory("CommitLimit:"), memory("Committed_AS:")) {
            (Limit::Of(limit), Limit::Of(used)) => Limit::Of(limit.saturating_sub(used)),
            (other, _) => other,
        };
        Self {
            pid_max: sysctl("kernel/pid_max"),
            threads_max: sysctl("kernel/threads-max"),
            max_map_count: sysctl("vm/max_map_count"),
            nproc_soft,
            nproc_hard,
            nproc_exempt: nproc_exempt(&roots.proc),
            nofile_soft,
            nofile_hard,
            nr_open: sysctl("fs/nr_open"),
            file_max: sysctl("fs/file-max"),
            files: first_number(&roots.proc.join("sys/fs/file-nr")).unwrap_or(0),
            epoll_watches: sysctl("fs/epoll/max_user_watches"),
            stack: of_process(&roots.proc, "Max stack size").0,
            pids: groups(roots, "pids", &["pids.max"], "pids.current"),
            pids_version: pids_version(roots),
            memory: memory_groups(roots),
            memory_total: memory("MemTotal:"),
            memory_available: memory("MemAvailable:"),
            overcommit: sysctl("vm/overcommit_memory"),
            promise_left,
            tasks: tasks(&roots.proc),
            ids_reserved: ids_reserved(&roots.proc),
        }
    }

    /// The group of which least is left.
    pub fn tightest(groups: &[Group]) -> Option<&Group> {
        groups.iter().filter(|group| group.left().is_some()).min_by_key(|group| group.left())
    }

    /// Bytes of memory left before less than a quarter would be free, here and in every group that limits it.
    pub fn memory_to_use(&self) -> Limit {
        to_use(&self.memory_available, &self.memory_total, &self.memory)
    }
}

/// The same, without reading anything else: among very many threads, some of the files take their time.
pub fn memory_to_use(roots: &Roots) -> Limit {
    let of = |name| kibibytes(&roots.proc, name);
    to_use(&of("MemAvailable:"), &of("MemTotal:"), &memory_groups(roots))
}

fn to_use(available: &Limit, total: &Limit, groups: &Result<Vec<Group>, String>) -> Limit {
    let quarter = |of: u64| of / 4;
    let own = match (available, total) {
        (Limit::Of(available), Limit::Of(total)) => Limit::Of(available.saturating_sub(quarter(*total))),
        (Limit::Of(_), other) | (other, _) => other.clone(),
    };
    let in_group = |group: &Group| Some(group.left()?.saturating_sub(quarter(group.max.known()?)));
    let least = groups.iter().flatten().filter_map(in_group).chain(own.known()).min();
    least.map_or(own, Limit::Of)
}

/// Threads of the whole system: what stands after the slash in `loadavg`.
pub fn tasks(proc: &Path) -> u64 {
    let text = fs::read_to_string(proc.join("loadavg")).unwrap_or_default();
    let fraction = text.split_whitespace().nth(3).and_then(|running| running.split_once('/'));
    fraction.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

fn limit_in(path: &Path, name: &str) -> Limit {
    match fs::read_to_string(path) {
        Ok(text) => Limit::parsed(&text).unwrap_or_else(|| Limit::Unknown(format!("{name} holds no number"))),
        Err(error) => Limit::Unknown(format!("{name} cannot be read: {}", error.kind())),
    }
}

fn first_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}

/// The soft and the hard value in a line of `self/limits`.
fn of_process(proc: &Path, name: &str) -> (Limit, Limit) {
    const FILE: &str = "/proc/self/limits";
    let text = match fs::read_to_string(proc.join("self/limits")) {
        Ok(text) => text,
        Err(error) => {
            let unknown = Limit::Unknown(format!("{FILE} cannot be read: {}", error.kind()));
            return (unknown.clone(), unknown);
        }
    };
    let mut words = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().split_whitespace();
    let mut next = || {
        let limit = words.next().and_then(Limit::parsed);
        limit.unwrap_or_else(|| Limit::Unknown(format!("{FILE} does not say {name}")))
    };
    (next(), next())
}

/// A line of `meminfo`, in bytes.
pub fn kibibytes(proc: &Path, name: &str) -> Limit {
    const FILE: &str = "/proc/meminfo";
    match fs::read_to_string(proc.join("meminfo")) {
        Err(error) => Limit::Unknown(format!("{FILE} cannot be read: {}", error.kind())),
        Ok(text) => {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
            number.map_or_else(|| Limit::Unknown(format!("{FILE} does not say {name}")), |kib| Limit::Of(kib << 10))
        }
    }
}

/// Root of the whole system, and whoever may administer it, may start more threads than the limit of processes says. Root of a
/// container that maps users may not.
fn nproc_exempt(proc: &Path) -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    const SYS_RESOURCE: u64 = 1 << 24;
    let status = fs::read_to_string(proc.join("self/status")).unwrap_or_default();
    let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let root = of("Uid:").and_then(|ids| ids.split_whitespace().next()) == Some("0");
    let capable = of("CapEff:").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
    let map = fs::read_to_string(proc.join("self/uid_map")).unwrap_or_default();
    let whole_system = map.split_whitespace().collect::<Vec<_>>() == ["0", "0", "4294967295"];
    whole_system && (root || capable & (SYS_ADMIN | SYS_RESOURCE) != 0)
}

/// Once ids have wrapped around, the kernel begins again at 300, so that smaller ones that are free stay free.
fn ids_reserved(proc: &Path) -> u64 {
    const RESERVED: u64 = 300;
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let small = |name: &str| name.parse::<u64>().is_ok_and(|id| id < RESERVED);
    let taken = entries.filter(|entry| small(&entry.file_name().to_string_lossy())).count() as u64;
    RESERVED.saturating_sub(taken)
}

fn pids_version(roots: &Roots) -> u64 {
    match Groups::of("pids", &roots.proc, &roots.cgroup) {
        Ok(Groups { version: Version::One, .. }) => 1,
        _ => 2,
    }
}

fn memory_groups(roots: &Roots) -> Result<Vec<Group>, String> {
    let limits = ["memory.max", "memory.limit_in_bytes"];
    let mut groups = groups(roots, "memory", &limits, "memory.current")?;
    for group in &mut groups {
        if group.current == 0 {
            group.current = first_number(&group.folder.join("memory.usage_in_bytes")).unwrap_or(0);
        }
    }
    Ok(groups)
}

/// The groups from this process's own up to the root of what is mounted here, for a controller of either version.
fn groups(roots: &Roots, controller: &str, limits: &[&str], current: &str) -> Result<Vec<Group>, String> {
    let groups = Groups::of(controller, &roots.proc, &roots.cgroup)?;
    let level = |(level, folder): (usize, &PathBuf)| group(folder, level as u64, limits, current);
    Ok(groups.folders.iter().enumerate().map(level).collect())
}

/// A group without the file sets no limit: the root never has it, others lack it where the controller is off.
fn group(folder: &Path, level: u64, limits: &[&str], current: &str) -> Group {
    let file = limits.iter().map(|name| (folder.join(name), name)).find(|(path, _)| path.exists());
    let max = file.map_or(Limit::Unlimited, |(path, name)| limit_in(&path, &format!("{name} of level {level}")));
    Group { folder: folder.to_owned(), level, max, current: first_number(&folder.join(current)).unwrap_or(0) }
}

impl Machine {
    /// What all of these mean.
    pub const MEASURES: [Described; 21] = [
        described("pid_max", "1", "one above the largest process or thread id (kernel.pid_max)"),
        described("threads_max", "1", "threads of the whole system (kernel.threads-max)"),
        described("max_map_count", "1", "mappings of one process (vm.max_map_count)"),
        described("nproc_soft", "1", "threads of one user, the soft limit (ulimit -u)"),
        described("nproc_hard", "1", "threads of one user, the hard limit (ulimit -Hu)"),
        described("nproc_exempt", "1", "1 if this process is above that limit, as root is, else 0"),
        described("nofile_soft", "1", "descriptors of one process, the soft limit (ulimit -n)"),
        described("nofile_hard", "1", "descriptors of one process, the hard limit (ulimit -Hn)"),
        described("nr_open", "1", "the largest hard limit of descriptors that may be set (fs.nr_open)"),
        described("file_max", "1", "open files of the whole system (fs.file-max)"),
        described("epoll_watches", "1", "descriptors that one user may have in epoll (fs.epoll.max_user_watches)"),
        described("pids_max", "1", "threads that the control group allows of which least is left (pids.max)"),
        described("pids_level", "1", "how many levels above this process's own group that one is"),
        described("pids_version", "1", "which version of control groups it is, 1 or 2"),
        described("memory_level", "1", "how many levels above its own the group is of whose memory least is left"),
        described("overcommit", "1", "how much memory is promised: 0 by a guess, 1 always, 2 never more than there is"),
        described("tasks", "1", "threads that exist on the whole system"),
        described("stack_soft", "B", "the default size of a thread's stack, of C programs (ulimit -s)"),
        described("memory_max", "B", "memory that the control group allows of which least is left"),
        described("memory_total", "B", "memory of the whole system"),
        described("memory_available", "B", "memory of the whole system that could be had without swapping"),
    ];

    /// Limits and states that are plain counts, by the name of their measure.
    pub fn plain_limits(&self) -> Vec<(&'static str, Limit)> {
        let of = |groups: &Result<Vec<Group>, String>, what: fn(&Group) -> Limit| match groups {
            Err(reason) => Limit::Unknown(reason.clone()),
            Ok(groups) => Self::tightest(groups).map_or(Limit::Unlimited, what),
        };
        vec![
            ("pid_max", self.pid_max.clone()),
            ("threads_max", self.threads_max.clone()),
            ("max_map_count", self.max_map_count.clone()),
            ("nproc_soft", self.nproc_soft.clone()),
            ("nproc_hard", self.nproc_hard.clone()),
            ("nproc_exempt", Limit::Of(u64::from(self.nproc_exempt))),
            ("nofile_soft", self.nofile_soft.clone()),
            ("nofile_hard", self.nofile_hard.clone()),
            ("nr_open", self.nr_open.clone()),
            ("file_max", self.file_max.clone()),
            ("epoll_watches", self.epoll_watches.clone()),
            ("pids_max", of(&self.pids, |group| group.max.clone())),
            ("pids_level", of(&self.pids, |group| Limit::Of(group.level))),
            ("pids_version", Limit::Of(self.pids_version)),
            ("memory_level", of(&self.memory, |group| Limit::Of(group.level))),
            ("overcommit", self.overcommit.clone()),
            ("tasks", Limit::Of(self.tasks)),
        ]
    }

    /// Those that are sizes.
    pub fn limits_in_bytes(&self) -> Vec<(&'static str, Limit)> {
        let tightest = |groups: &Vec<Group>| Self::tightest(groups).map_or(Limit::Unlimited, |group| group.max.clone());
        vec![
            ("stack_soft", self.stack.clone()),
            ("memory_max", self.memory.as_ref().map_or_else(|reason| Limit::Unknown(reason.clone()), tightest)),
            ("memory_total", self.memory_total.clone()),
            ("memory_available", self.memory_available.clone()),
        ]
    }
}
