//! What is counted beside the time of every sample. Reading happens outside the clock. What cannot be read is missing
//! here and named, with the reason, in [`unavailable`]: never zero.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;

/// Counters by name; see [`observation::Window::counters`] for how they are named.
#[derive(Clone, Default)]
pub struct Counters(BTreeMap<String, u64>);

impl Counters {
    /// How far each counter has moved from `earlier` to here.
    pub fn since(&self, earlier: &Self) -> BTreeMap<String, u64> {
        let moved = |(name, value): (&String, &u64)| {
            let before = earlier.0.get(name)?;
            Some((name.clone(), value.saturating_sub(*before)))
        };
        self.0.iter().filter_map(moved).collect()
    }

    #[cfg(test)]
    pub fn of(name: &str, value: u64) -> Self {
        Self(BTreeMap::from([(name.to_owned(), value)]))
    }
}

impl From<BTreeMap<String, u64>> for Counters {
    fn from(counters: BTreeMap<String, u64>) -> Self {
        Self(counters)
    }
}

/// At which end of a sample counters are read.
#[derive(Clone, Copy)]
pub enum Edge {
    /// Just before the clock starts.
    Start,
    /// Just after it has stopped.
    End,
}

/// Reads every counter that is cheap enough to be read around each sample. Reading the system-wide ones takes CPU time of
/// ours, so at either end the process's own are read next to the clock, and that time is in no sample.
pub fn read(edge: Edge) -> Counters {
    let own_first = matches!(edge, Edge::End).then(own);
    let mut all = system_wide();
    all.extend(own_first.unwrap_or_else(own));
    Counters(all)
}

fn own() -> BTreeMap<String, u64> {
    let usage = resource_usage();
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let counters = [
        ("user_ns", ns(usage.ru_utime)),
        ("system_ns", ns(usage.ru_stime)),
        ("voluntary_switches", usage.ru_nvcsw as u64),
        ("involuntary_switches", usage.ru_nivcsw as u64),
    ];
    counters.map(|(name, value)| (name.to_owned(), value)).into()
}

fn system_wide() -> BTreeMap<String, u64> {
    let readable = SYSTEM_WIDE.into_iter().filter_map(|(name, _, read)| Some((name.to_owned(), read()?)));
    readable.collect()
}

/// What this machine does not let us read, and why.
pub fn unavailable() -> BTreeMap<String, String> {
    let missing = |(name, path, read): (&str, &str, ReadCounter)| {
        (read().is_none()).then(|| (name.to_owned(), format!("{path} cannot be read here")))
    };
    SYSTEM_WIDE.into_iter().filter_map(missing).collect()
}

type ReadCounter = fn() -> Option<u64>;

/// Name, source, reader. These count the whole machine, whoever else is using it.
const SYSTEM_WIDE: [(&str, &str, ReadCounter); 4] = [
    ("system_rescheduling_interrupts", "row RES of /proc/interrupts", || interrupts("RES:")),
    ("system_function_call_interrupts", "row CAL of /proc/interrupts", || interrupts("CAL:")),
    ("system_idle_entries", "/sys/devices/system/cpu/cpu*/cpuidle/state*/usage", idle_entries),
    ("system_steal_ticks", "field steal of /proc/stat", || {
        fs::read_to_string("/proc/stat").ok()?.split_whitespace().nth(8)?.parse().ok()
    }),
];

/// The sum over all CPUs of one row of `/proc/interrupts`.
fn interrupts(row: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/interrupts").ok()?;
    let line = text.lines().find_map(|l| l.trim_start().strip_prefix(row))?;
    Some(line.split_whitespace().map_while(|n| n.parse::<u64>().ok()).sum())
}

/// How often any CPU has entered any idle state.
fn idle_entries() -> Option<u64> {
    let mut sum = None;
    for cpu in 0.. {
        let states = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
        let Ok(folder) = fs::read_dir(states) else {
            return sum;
        };
        for state in folder.flatten() {
            let usage = fs::read_to_string(state.path().join("usage")).ok()?;
            *sum.get_or_insert(0) += usage.trim().parse::<u64>().ok()?;
        }
    }
    sum
}

/// How often the kernel has moved any living thread of this process to another CPU. One file per thread: too dear to
/// read around each sample, and a perf event instead would slow the very switches it counts.
pub fn migrations() -> Result<u64, String> {
    let path = "/proc/self/task";
    let unreadable = |e: std::io::Error| format!("{path}: {e}");
    let mut sum = 0;
    for thread in fs::read_dir(path).map_err(unreadable)? {
        let file = thread.map_err(unreadable)?.path().join("sched");
        let text = fs::read_to_string(&file).map_err(|_| {
            "/proc/self/task/*/sched cannot be read: the kernel is built without SCHED_DEBUG".to_owned()
        })?;
        let row = text.lines().find(|l| l.starts_with("se.nr_migrations"));
        let value = row.and_then(|l| l.rsplit(':').next()?.trim().parse::<u64>().ok());
        sum += value.ok_or("/proc/self/task/*/sched has no row se.nr_migrations")?;
    }
    Ok(sum)
}

/// CPU time and switches of all threads of this process, ended ones included.
fn resource_usage() -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: getrusage writes a whole `rusage` through a pointer that is valid for that; with RUSAGE_SELF and a valid
    // pointer it cannot fail, which is asserted before the value is taken to be initialised.
    unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), 0);
        usage.assume_init()
    }
}
