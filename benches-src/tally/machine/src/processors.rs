//! CPUs and their caches, as the kernel describes them.

use std::collections::BTreeSet;
use std::path::Path;

use super::files::read;

/// From here on, two CPUs are too far apart to share a cache. What others have published of one way
/// of a line (github.com/nviennot/core-to-core-latency) is 17 and 23 ns between cores that share
/// their last cache and 85 and 107 ns between others, on an AMD 5950X and an EPYC 7R13. On the
/// virtual machine on which this was written it was from 41 to 65 ns at times, and from 189 to 225
/// ns at others.
pub const APART_NS: u64 = 75;

/// The CPUs that a list such as `0-3,8` names. Linux knows no more than this of them.
pub fn cpus_in_list(list: &str) -> Vec<usize> {
    const MOST: usize = 8192;
    let cpus = |range: &str| match range.split_once('-') {
        Some((first, last)) => Some(first.parse().ok()?..=last.parse().ok()?),
        None => range.parse().ok().map(|cpu| cpu..=cpu),
    };
    list.split(',').filter_map(cpus).flatten().take(MOST).collect()
}

/// The CPUs that both lists name, as such a list; the first one where they have none in common.
pub(super) fn cpus_in_both(list: &str, other: &str) -> String {
    let other: BTreeSet<usize> = cpus_in_list(other).into_iter().collect();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus_in_list(list).into_iter().filter(|cpu| other.contains(cpu)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let range =
        |(first, last): &(usize, usize)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    if ranges.is_empty() { list.to_owned() } else { ranges.iter().map(range).collect::<Vec<_>>().join(",") }
}

/// The CPUs that are threads of the same core as this one, itself among them; none where the kernel
/// does not say.
pub fn same_core(cpu: usize) -> Vec<usize> {
    let list = read(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    cpus_in_list(&list.unwrap_or_default())
}

/// A processor's cache, as the kernel describes it.
pub struct Cache {
    pub(super) level: String,
    pub(super) kind: String,
    /// With `K` or `M`.
    pub(super) size: String,
    /// The CPUs that share it.
    pub cpus: Vec<usize>,
}

impl Cache {
    pub fn bytes(&self) -> Option<f64> {
        bytes_of_cache(&self.size)
    }
}

/// The caches of a CPU, the nearest first.
pub(super) fn caches_of(cpu: usize) -> Vec<Cache> {
    caches_below(Path::new("/"), cpu)
}

/// The same, of the machine whose files lie in this folder.
pub(super) fn caches_below(root: &Path, cpu: usize) -> Vec<Cache> {
    let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cache"));
    let cache = |index: usize| {
        let part = |name: &str| read(folder.join(format!("index{index}/{name}")));
        let (level, kind, size) = (part("level")?, part("type")?.to_lowercase(), part("size")?);
        Some(Cache { level, kind, size, cpus: cpus_in_list(&part("shared_cpu_list")?) })
    };
    (0..).map_while(cache).collect()
}

/// The largest cache of a CPU.
pub fn last_cache(cpu: usize) -> Option<Cache> {
    caches_of(cpu).into_iter().last()
}

/// What a size such as `32M` stands for.
pub(super) fn bytes_of_cache(size: &str) -> Option<f64> {
    let (number, unit) = size.split_at_checked(size.len().checked_sub(1)?)?;
    Some(number.parse::<f64>().ok()? * if unit == "M" { 1024.0 * 1024.0 } else { 1024.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_may_be_used_are_those_that_there_are() {
        for (allowed, online, both) in [
            ("0-127", "0-1", "0-1"),
            ("0-1", "0-1", "0-1"),
            ("0,2-5,9", "0-3,5,8-15", "0,2-3,5,9"),
            ("3", "0-7", "3"),
            ("0-3", "", "0-3"),
        ] {
            assert_eq!(cpus_in_both(allowed, online), both, "{allowed} of {online}");
        }
    }
}
