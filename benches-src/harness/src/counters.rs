//! What is counted beside the time of every sample. Reading happens outside the clock, and after the first time without the heap,
//! which is left to the program as it was. What cannot be read is missing here and named, with the reason, in [`unavailable`]: never
//! zero.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Everything that is counted, in the order in which [`Counters`] holds it; see [`observation::Window::counters`] for how they are
/// named. The first [`OWN`] are this process's, the others count the whole machine, whoever else is using it.
const NAMES: [&str; 8] = [
    "user_ns",
    "system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "system_rescheduling_interrupts",
    "system_function_call_interrupts",
    "system_idle_entries",
    "system_steal_ticks",
];
const OWN: usize = 4;

/// Where the machine's counters stand.
const SOURCES: [&str; NAMES.len() - OWN] = [
    "row RES of /proc/interrupts",
    "row CAL of /proc/interrupts",
    "/sys/devices/system/cpu/cpu*/cpuidle/state*/usage",
    "field steal of /proc/stat",
];

/// Where every counter stands at some moment, or how far each has moved between two; none for what cannot be read.
#[derive(Clone, Copy, Default)]
pub struct Counters([Option<u64>; NAMES.len()]);

impl Counters {
    /// How far each counter has moved from `earlier` to here.
    pub fn since(&self, earlier: &Self) -> Self {
        let moved = |at: usize| Some(self.0[at]?.saturating_sub(earlier.0[at]?));
        Self(std::array::from_fn(moved))
    }

    /// By name, without what cannot be read.
    pub fn named(&self) -> BTreeMap<String, u64> {
        NAMES.into_iter().zip(self.0).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    #[cfg(test)]
    pub fn of(name: &str, value: u64) -> Self {
        Self(NAMES.map(|of| (of == name).then_some(value)))
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
    let mut all = Counters::default();
    if matches!(edge, Edge::End) {
        all.0[..OWN].copy_from_slice(&own());
    }
    all.0[OWN..].copy_from_slice(&system_wide());
    if matches!(edge, Edge::Start) {
        all.0[..OWN].copy_from_slice(&own());
    }
    all
}

/// CPU time and switches of all threads of this process, ended ones included.
fn own() -> [Option<u64>; OWN] {
    // SAFETY: it is made of numbers, all of which may be zero.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: getrusage writes a whole `rusage` through a pointer that is valid for that. A sandbox may refuse it.
    let is_told = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } == 0;
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let all = [ns(usage.ru_utime), ns(usage.ru_stime), usage.ru_nvcsw as u64, usage.ru_nivcsw as u64];
    all.map(|count| is_told.then_some(count))
}

/// What this machine does not let us read, and why.
pub fn unavailable() -> BTreeMap<String, String> {
    let sources = std::iter::repeat_n("getrusage", OWN).chain(SOURCES);
    let all = NAMES.into_iter().zip(sources).zip(read(Edge::End).0);
    let missing = |((name, source), value): ((&str, &str), Option<u64>)| {
        value.is_none().then(|| (name.to_owned(), format!("{source} cannot be read here")))
    };
    all.filter_map(missing).collect()
}

fn system_wide() -> [Option<u64>; NAMES.len() - OWN] {
    static FILES: LazyLock<Mutex<Files>> = LazyLock::new(|| Mutex::new(Files::find()));
    FILES.lock().unwrap_or_else(PoisonError::into_inner).read()
}

/// The files that the machine's counters are read from, and room for what stands in them.
struct Files {
    /// How often each CPU has entered each idle state.
    idle_states: Vec<PathBuf>,
    text: Vec<u8>,
}

impl Files {
    fn find() -> Self {
        // Their numbers may have holes.
        let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let states = inside("/sys/devices/system/cpu".into()).flat_map(|cpu| inside(cpu.join("cpuidle")));
        let usage = states.map(|state| state.join("usage")).filter(|usage| usage.is_file());
        Self { idle_states: usage.collect(), text: Vec::new() }
    }

    fn read(&mut self) -> [Option<u64>; NAMES.len() - OWN] {
        let interrupts =
            self.text_of(Path::new("/proc/interrupts")).map(|text| ["RES:", "CAL:"].map(|row| sum(text, row)));
        let [rescheduling, function_call] = interrupts.unwrap_or_default();
        let stat = self.text_of(Path::new("/proc/stat"));
        let steal = stat.and_then(|text| text.split_ascii_whitespace().nth(8)?.parse().ok());
        [rescheduling, function_call, self.idle_entries(), steal]
    }

    fn idle_entries(&mut self) -> Option<u64> {
        let states = std::mem::take(&mut self.idle_states);
        let entries = states.iter().map(|state| self.text_of(state)?.trim().parse::<u64>().ok());
        let sum = entries.sum::<Option<u64>>().filter(|_| !states.is_empty());
        self.idle_states = states;
        sum
    }

    /// What stands in a file. Nothing is allocated once there was room for it.
    fn text_of(&mut self, path: &Path) -> Option<&str> {
        self.text.clear();
        File::open(path).ok()?.read_to_end(&mut self.text).ok()?;
        std::str::from_utf8(&self.text).ok()
    }
}

/// The sum over all CPUs of one row of `/proc/interrupts`.
fn sum(interrupts: &str, row: &str) -> Option<u64> {
    let line = interrupts.lines().find_map(|line| line.trim_start().strip_prefix(row))?;
    Some(line.split_ascii_whitespace().map_while(|number| number.parse::<u64>().ok()).sum())
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
