//! What each limit implies: how many threads or tasks until it binds.

use anyhow::Result;
use harness::{Described, Unavailable, described};

use crate::machine::{Limit, Machine};

/// What one unit takes of each limited thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// What the unit is called in measures.
    pub name: &'static str,
    /// Mappings of the process.
    pub mappings: u64,
    /// Ids, and with them places among the threads of the system, of the user, and of the control groups.
    pub ids: u64,
    /// Descriptors.
    pub descriptors: u64,
    /// Of these, those in epoll.
    pub watches: u64,
    /// Bytes of memory, roughly: for a prediction, and never for a result.
    pub bytes: u64,
    /// Bytes of address space.
    pub address_bytes: u64,
}

impl Needs {
    /// A thread of the standard library: the stack, its guard page, the stack for signals and the guard page of that.
    pub const THREAD: Self = Self {
        name: "thread",
        mappings: 4,
        ids: 1,
        descriptors: 0,
        watches: 0,
        bytes: 36 << 10,
        address_bytes: 2 << 20,
    };
    /// A thread of the C library with a small stack: the stack and its guard page.
    pub const PTHREAD: Self =
        Self { name: "pthread", mappings: 2, bytes: 28 << 10, address_bytes: 64 << 10, ..Self::THREAD };
    /// A task that waits for nothing that has a descriptor.
    pub const TASK: Self =
        Self { name: "task", mappings: 0, ids: 0, descriptors: 0, watches: 0, bytes: 512, address_bytes: 512 };
    /// A thread with a socket pair.
    pub const THREAD_BRIGADE: Self = Self { name: "thread_brigade", descriptors: 2, bytes: 40 << 10, ..Self::THREAD };
    /// A task with a socket pair.
    pub const TASK_BRIGADE: Self =
        Self { name: "task_brigade", descriptors: 2, watches: 2, bytes: 6 << 10, address_bytes: 2 << 10, ..Self::TASK };
    /// All of them.
    pub const ALL: [Self; 5] = [Self::THREAD, Self::PTHREAD, Self::TASK, Self::THREAD_BRIGADE, Self::TASK_BRIGADE];
}

/// What ceilings are called as measures.
pub const CEILINGS: [Described; 10] = [
    described("thread_by_*", "1", "how many threads of the standard library this limit allows"),
    described("thread_ceiling", "1", "the lowest of these"),
    described("pthread_by_*", "1", "how many threads of the C library, with a small stack, this limit allows"),
    described("pthread_ceiling", "1", "the lowest of these"),
    described("task_by_*", "1", "how many tasks that wait for no descriptor this limit allows"),
    described("task_ceiling", "1", "the lowest of these"),
    described("thread_brigade_by_*", "1", "how many threads with a socket pair this limit allows"),
    described("thread_brigade_ceiling", "1", "the lowest of these"),
    described("task_brigade_by_*", "1", "how many tasks with a socket pair this limit allows"),
    described("task_brigade_ceiling", "1", "the lowest of these"),
];

/// Where one limit would stop a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// What the limit is called in measures.
    pub limit: &'static str,
    /// How many units. Unlimited where the limit does not concern them, or there is none.
    pub units: Limit,
}

/// What each limit implies for one kind of unit.
pub fn ceilings(machine: &Machine, needs: &Needs) -> Vec<Ceiling> {
    let per = |left: Limit, each: u64| match (left, each) {
        (_, 0) => Limit::Unlimited,
        (Limit::Of(left), each) => Limit::Of(left / each),
        (other, _) => other,
    };
    let less = |limit: &Limit, used: u64| match limit {
        Limit::Of(value) => Limit::Of(value.saturating_sub(used)),
        other => other.clone(),
    };
    // What any process has mapped and open before it begins.
    const MAPPINGS_OF_A_PROCESS: u64 = 60;
    const DESCRIPTORS_OF_A_PROCESS: u64 = 24;
    let nproc = if machine.nproc_exempt { Limit::Unlimited } else { machine.nproc_soft.clone() };
    let promised = if machine.overcommit == Limit::Of(2) { machine.promise_left.clone() } else { Limit::Unlimited };
    [
        ("max_map_count", per(less(&machine.max_map_count, MAPPINGS_OF_A_PROCESS), needs.mappings)),
        ("pid_max", per(less(&machine.pid_max, machine.tasks + machine.ids_reserved), needs.ids)),
        ("threads_max", per(less(&machine.threads_max, machine.tasks), needs.ids)),
        // Who else runs under this user is not known; at most everything that runs.
        ("nproc", per(less(&nproc, machine.tasks), needs.ids)),
        ("pids_max", per(left_in_groups(machine), needs.ids)),
        // A program of this book raises its soft limit to the hard one.
        ("nofile", per(less(&machine.nofile_hard, DESCRIPTORS_OF_A_PROCESS), needs.descriptors)),
        ("file_max", per(less(&machine.file_max, machine.files), needs.descriptors)),
        ("epoll_watches", per(machine.epoll_watches.clone(), needs.watches)),
        ("memory", per(machine.memory_to_use(), needs.bytes)),
        ("overcommit", per(promised, needs.address_bytes)),
    ]
    .map(|(limit, units)| Ceiling { limit, units })
    .into()
}

/// The lowest of them, if any is known.
pub fn nearest(ceilings: &[Ceiling]) -> Option<(&'static str, u64)> {
    ceilings.iter().filter_map(|ceiling| Some((ceiling.limit, ceiling.units.known()?))).min_by_key(|(_, units)| *units)
}

/// Whether no limit is known that forbids so many; else every one that does, with its cure.
pub fn allowed(ceilings: &[Ceiling], most: u64) -> Result<()> {
    let forbids = |ceiling: &&Ceiling| ceiling.units.known().is_some_and(|units| units < most);
    let said = |Ceiling { limit, units }: &Ceiling| {
        format!("{limit} allows {} ({})", units.known().unwrap_or_default(), cure(limit))
    };
    let those: Vec<String> = ceilings.iter().filter(forbids).map(said).collect();
    if those.is_empty() {
        return Ok(());
    }
    Err(Unavailable::because(format!("{most} are wanted, and {}", those.join(", "))))
}

/// How a limit is raised, as root, far enough for all that this chapter does.
fn cure(limit: &str) -> &'static str {
    match limit {
        "max_map_count" => "sysctl -w vm.max_map_count=2100000",
        "pid_max" => "sysctl -w kernel.pid_max=4194304",
        "threads_max" => "sysctl -w kernel.threads-max=1000000",
        "nproc" => "prlimit --pid $$ --nproc=1000000",
        "pids_max" => "echo max into pids.max of the group that cargo tally limits names",
        "nofile" => "prlimit --pid $$ --nofile=1048576, with the capability to raise hard limits",
        "file_max" => "sysctl -w fs.file-max=10000000",
        "epoll_watches" => "sysctl -w fs.epoll.max_user_watches=20000000",
        "overcommit" => "sysctl -w vm.overcommit_memory=0",
        _ => "a machine with more memory",
    }
}

fn left_in_groups(machine: &Machine) -> Limit {
    match &machine.pids {
        Err(reason) => Limit::Unknown(reason.clone()),
        Ok(groups) => Machine::tightest(groups).and_then(|group| group.left()).map_or(Limit::Unlimited, Limit::Of),
    }
}
