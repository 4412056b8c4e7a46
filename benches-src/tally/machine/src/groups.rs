//! What control groups allow: the least that any of them does, from the process's own up to the
//! root of what is mounted. Their paths are private, so that only the height at which a limit
//! stands is said.

use std::path::{Path, PathBuf};

use crate::files::{read, row};
use crate::processors::cpus_in_list;

/// The least that any group allows, and at which height.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Limit {
    value: f64,
    /// Levels above the process's own group.
    up: usize,
}

/// So much CPU time that is used within a period is worth so many whole CPUs: `1.5 CPUs`, or
/// `none`.
pub fn cpu_quota(root: &Path) -> Option<String> {
    Some(tightest(root, "cpu", quota)?.map_or(NONE.to_owned(), |limit| cpus(limit.value)))
}

/// The same with its height.
pub fn cpu_limit(root: &Path) -> Option<String> {
    Some(in_words(tightest(root, "cpu", quota)?, cpus))
}

/// The least memory, in the unit of `/proc/meminfo`.
pub fn memory_limit(root: &Path) -> Option<String> {
    Some(in_words(tightest(root, "memory", memory)?, |bytes| format!("{} kB", (bytes / 1024.0).round())))
}

/// The fewest processes and threads.
pub fn process_limit(root: &Path) -> Option<String> {
    let pids = |folder: &Path| number(folder.join("pids.max"));
    Some(in_words(tightest(root, "pids", pids)?, |count| count.to_string()))
}

/// The fewest CPUs: the highest group that allows no others; `none` where it may use all that are
/// online.
pub fn cpu_set(root: &Path) -> Option<String> {
    let names = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
    let set = |folder: &PathBuf| names.iter().find_map(|name| read(folder.join(name)));
    let folders = folders(root, "cpuset")?;
    let sets = folders.iter().enumerate().filter_map(|(up, folder)| Some((up, set(folder)?)));
    let sets: Vec<(usize, String)> = sets.filter(|(_, list)| !cpus_in_list(list).is_empty()).collect();
    // The least of several equal ones is the first, and so the highest in reverse order.
    let Some((up, list)) = sets.iter().rev().min_by_key(|(_, list)| cpus_in_list(list).len()) else {
        return Some(NONE.to_owned());
    };
    let online = cpus_in_list(&read(root.join("sys/devices/system/cpu/online"))?);
    let is_limit = cpus_in_list(list).len() < online.len();
    Some(if is_limit { format!("{list}, {}", height(*up)) } else { NONE.to_owned() })
}

/// How often any of the groups was throttled since it exists.
pub fn throttled(root: &Path) -> Option<u64> {
    let times = |folder: &PathBuf| row(folder.join("cpu.stat"), "nr_throttled")?.parse::<u64>().ok();
    folders(root, "cpu")?.iter().filter_map(times).reduce(|sum, times| sum.saturating_add(times))
}

const NONE: &str = "none";

fn in_words(limit: Option<Limit>, value: impl Fn(f64) -> String) -> String {
    limit.map_or(NONE.to_owned(), |limit| format!("{}, {}", value(limit.value), height(limit.up)))
}

fn height(up: usize) -> String {
    match up {
        0 => "its own group".to_owned(),
        1 => "1 level up".to_owned(),
        levels => format!("{levels} levels up"),
    }
}

fn cpus(count: f64) -> String {
    let rounded = (count * 100.0).round() / 100.0;
    format!("{rounded} CPU{}", if rounded == 1.0 { "" } else { "s" })
}

/// The least that a group allows; within, nothing where none sets a limit, and without where it
/// cannot be told.
fn tightest(root: &Path, controller: &str, of: impl Fn(&Path) -> Option<f64>) -> Option<Option<Limit>> {
    let folders = folders(root, controller)?;
    let limits = folders.iter().enumerate().filter_map(|(up, folder)| Some(Limit { value: of(folder)?, up }));
    Some(limits.min_by(|one, other| one.value.total_cmp(&other.value)))
}

fn quota(folder: &Path) -> Option<f64> {
    let share =
        |used: f64, period: f64| (used > 0.0 && period > 0.0).then(|| used / period).filter(|share| share.is_finite());
    if let Some(both) = read(folder.join("cpu.max")) {
        let (used, period) = both.split_once(' ')?;
        return share(used.parse().ok()?, period.parse().ok()?);
    }
    share(number(folder.join("cpu.cfs_quota_us"))?, number(folder.join("cpu.cfs_period_us"))?)
}

fn memory(folder: &Path) -> Option<f64> {
    // The older version has no word for none, but a number that no machine has.
    const NOBODY_HAS: f64 = (1_u64 << 62) as f64;
    // Beyond the high one, all that a process takes is taken from itself again, which is slow.
    let limits = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    let bytes = limits.iter().filter_map(|name| number(folder.join(name))).reduce(f64::min)?;
    (bytes < NOBODY_HAS).then_some(bytes)
}

/// A number that is no word such as `max`, and not below zero, which means none as well.
fn number(path: PathBuf) -> Option<f64> {
    read(path)?.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// The groups of this process for a controller, its own first. In either version of control groups
/// or a mixture.
fn folders(root: &Path, controller: &str) -> Option<Vec<PathBuf>> {
    let list = read(root.join("proc/self/cgroup"))?;
    let entries: Vec<(&str, &str)> = list.lines().filter_map(|line| line.split_once(':')?.1.split_once(':')).collect();
    let of_first = entries.iter().find(|(names, _)| names.split(',').any(|name| name == controller));
    let (names, path) = of_first.or_else(|| entries.iter().find(|(names, _)| names.is_empty()))?;
    let mounts = read(root.join("proc/self/mountinfo"))?;
    let mount = mounts.lines().filter_map(Mount::of).find(|mount| match names.is_empty() {
        true => mount.kind == "cgroup2",
        false => mount.kind == "cgroup" && mount.options.split(',').any(|option| option == controller),
    })?;
    Some(mount.folders(root, path))
}

/// A place where control groups are mounted.
struct Mount<'a> {
    group: String,
    point: String,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (place, what) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut what = what.split(' ');
        let (group, point) = (unescaped(place.next()?), unescaped(place.next()?));
        Some(Self { group, point, kind: what.next()?, options: what.nth(1)? })
    }

    /// From the group with this path up to the one that is mounted. In a container the path may be
    /// that of the machine outside, while what is mounted is the container's own group.
    fn folders(&self, root: &Path, path: &str) -> Vec<PathBuf> {
        let top = root.join(self.point.trim_start_matches('/'));
        let below = Path::new(path).strip_prefix(&self.group).ok().filter(|_| !path.contains(".."));
        let own = below.map(|below| top.join(below)).filter(|own| own.is_dir()).unwrap_or_else(|| top.clone());
        own.ancestors().take_while(|folder| folder.starts_with(&top)).map(Path::to_owned).collect()
    }
}

/// Blanks stand as octal numbers in the list of mounts.
fn unescaped(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}

#[cfg(test)]
mod tests;
