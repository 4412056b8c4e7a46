//! How the CPUs that may be used stand to each other: cores, packages, memory nodes and the caches
//! that they share.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::files::read;
use crate::processors::{caches_below, cpus_in_list};

/// One line such as `4 CPUs: 2 cores of 1 package, 2 threads each, 1 NUMA node, L3 shared by all`.
/// What the kernel does not say is left out, and nothing is said where it says nothing.
pub fn line(root: &Path, allowed: &[usize]) -> Option<String> {
    let system = root.join("sys/devices/system");
    let cores = groups(allowed, |cpu| core(&system, cpu));
    let caches = caches(root, allowed, cores.as_ref());
    let parts = [cores.as_ref().map(|cores| cores_in_words(&system, allowed, cores)), nodes(&system, allowed), caches];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    let count = allowed.len();
    (!known.is_empty()).then(|| format!("{count} CPU{}: {}", plural(count), known.join(", ")))
}

/// Whether a line says that there are several CPUs, and all are threads of one core.
pub fn all_share_a_core(line: &str) -> bool {
    line.split_once(" CPUs: ").is_some_and(|(_, rest)| rest.starts_with("1 core"))
}

/// The CPUs in groups of those that share something, in order; nothing where it is not known of
/// each.
type Groups = BTreeSet<Vec<usize>>;

fn groups(allowed: &[usize], of: impl Fn(usize) -> Option<Vec<usize>>) -> Option<Groups> {
    let own = |cpu: &usize| {
        let all = of(*cpu)?;
        let mut group: Vec<usize> = all.into_iter().filter(|other| allowed.contains(other)).collect();
        group.sort_unstable();
        group.contains(cpu).then_some(group)
    };
    allowed.iter().map(own).collect::<Option<Groups>>().filter(|groups| !groups.is_empty())
}

/// The threads of a CPU's core. Kernels before 5.3 know the list by its older name.
fn core(system: &Path, cpu: usize) -> Option<Vec<usize>> {
    let list = |name: &str| read(system.join(format!("cpu/cpu{cpu}/topology/{name}")));
    list("core_cpus_list").or_else(|| list("thread_siblings_list")).map(|list| cpus_in_list(&list))
}

fn cores_in_words(system: &Path, allowed: &[usize], cores: &Groups) -> String {
    let package = |cpu: &usize| {
        let id: i64 = read(system.join(format!("cpu/cpu{cpu}/topology/physical_package_id")))?.parse().ok()?;
        // So the kernel says that it does not know.
        (id >= 0).then_some(id)
    };
    let packages: Option<BTreeSet<i64>> = allowed.iter().map(package).collect();
    let of = packages.map_or(String::new(), |ids| format!(" of {} package{}", ids.len(), plural(ids.len())));
    let sizes: BTreeSet<usize> = cores.iter().map(Vec::len).collect();
    let threads = match (sizes.first(), sizes.last()) {
        (_, Some(1) | None) => String::new(),
        (Some(least), Some(most)) if least != most => format!(", {least} to {most} threads each"),
        (_, Some(each)) => format!(", {each} threads each"),
    };
    format!("{} core{}{of}{threads}", cores.len(), plural(cores.len()))
}

/// The memory nodes on which these CPUs are.
fn nodes(system: &Path, allowed: &[usize]) -> Option<String> {
    let node = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix("node")?.parse::<usize>().ok()?;
        Some(cpus_in_list(&read(entry.path().join("cpulist"))?))
    };
    let nodes: Vec<Vec<usize>> = fs::read_dir(system.join("node")).ok()?.flatten().filter_map(node).collect();
    let used = nodes.iter().filter(|cpus| cpus.iter().any(|cpu| allowed.contains(cpu))).count();
    (used > 0).then(|| format!("{used} NUMA node{}", plural(used)))
}

/// The caches that are shared beyond a core, the last first; of their own, the last one where none
/// is.
fn caches(root: &Path, allowed: &[usize], cores: Option<&Groups>) -> Option<String> {
    let cache = |cpu: usize, level: &str| {
        let data = caches_below(root, cpu).into_iter().filter(|cache| cache.kind != "instruction");
        data.filter(|cache| cache.level == level).map(|cache| cache.cpus).next()
    };
    let levels = ["4", "3", "2", "1"];
    let known: Vec<(&str, Groups)> =
        levels.iter().filter_map(|level| Some((*level, groups(allowed, |cpu| cache(cpu, level))?))).collect();
    let is_beyond = |groups: &Groups| groups.iter().any(|group| group.len() > 1) && Some(groups) != cores;
    let mut parts = Vec::new();
    for (place, (level, groups)) in known.iter().enumerate() {
        let is_same = place > 0 && known[place - 1].1 == *groups;
        if (is_beyond(groups) && !is_same) || (place == 0 && !is_beyond(groups)) {
            parts.push(format!("L{level} {}", shared(groups, allowed.len())));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn shared(groups: &Groups, all: usize) -> String {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    match &sizes[..] {
        [1] => "of its own".to_owned(),
        [2] if all == 2 => "shared by both".to_owned(),
        [_] => "shared by all".to_owned(),
        [1, rest @ ..] if rest.iter().all(|size| *size == 1) => "of its own for each".to_owned(),
        [first, rest @ ..] if rest.iter().all(|size| size == first) => {
            format!("shared in {} groups of {first}", sizes.len())
        }
        _ => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            format!("shared in groups of {}", sizes.join(", "))
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join("sys/devices/system").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn core(&self, cpus: &[usize], list: &str, package: &str) -> &Self {
            for cpu in cpus {
                self.write(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), list);
                self.write(&format!("cpu/cpu{cpu}/topology/physical_package_id"), package);
            }
            self
        }

        fn cache(&self, cpus: impl IntoIterator<Item = usize>, index: usize, level: usize, list: &str) -> &Self {
            for cpu in cpus {
                for (name, text) in
                    [("level", &*level.to_string()), ("type", "Unified"), ("size", "512K"), ("shared_cpu_list", list)]
                {
                    self.write(&format!("cpu/cpu{cpu}/cache/index{index}/{name}"), text);
                }
            }
            self
        }

        fn line(&self, allowed: &[usize]) -> String {
            line(self.0.path(), allowed).unwrap_or_else(|| "unavailable".to_owned())
        }
    }

    #[test]
    fn two_cores_of_one_package() {
        let machine = Machine::new();
        for cpu in 0..2 {
            machine.core(&[cpu], &cpu.to_string(), "0").cache([cpu], 0, 2, &cpu.to_string());
        }
        machine.cache(0..2, 1, 3, "0-1");
        machine.write("node/node0/cpulist", "0-1\n");
        machine.write("node/possible", "0\n");
        assert_eq!(machine.line(&[0, 1]), "2 CPUs: 2 cores of 1 package, 1 NUMA node, L3 shared by both");
        assert_eq!(machine.line(&[1]), "1 CPU: 1 core of 1 package, 1 NUMA node, L3 of its own");
    }

    /// Two clusters of four cores with two threads: CPU n and n + 8 are one core.
    fn clusters() -> Machine {
        let machine = Machine::new();
        for cpu in 0..8 {
            let list = format!("{cpu},{}", cpu + 8);
            machine.core(&[cpu, cpu + 8], &list, "0").cache([cpu, cpu + 8], 0, 2, &list);
        }
        machine.cache((0..4).chain(8..12), 1, 3, "0-3,8-11").cache((4..8).chain(12..16), 1, 3, "4-7,12-15");
        machine.write("node/node0/cpulist", "0-3,8-11");
        machine.write("node/node1/cpulist", "4-7,12-15");
        machine
    }

    #[test]
    fn clusters_and_threads_of_a_core() {
        let machine = clusters();
        let all: Vec<usize> = (0..16).collect();
        let wanted = "16 CPUs: 8 cores of 1 package, 2 threads each, 2 NUMA nodes, L3 shared in 2 groups of 8";
        assert_eq!(machine.line(&all), wanted);
        assert!(!all_share_a_core(wanted));
        // Of those that may be used, only what they have in common counts.
        let siblings = machine.line(&[0, 8]);
        let wanted = "2 CPUs: 1 core of 1 package, 2 threads each, 1 NUMA node, L3 shared by both";
        assert_eq!(siblings, wanted);
        assert!(all_share_a_core(&siblings));
        let some = "4 CPUs: 3 cores of 1 package, 1 to 2 threads each, 2 NUMA nodes, L3 shared in groups of 3, 1";
        assert_eq!(machine.line(&[1, 2, 5, 9]), some);
    }

    #[test]
    fn numbers_with_holes() {
        let machine = Machine::new();
        machine.core(&[0, 6], "0,6", "0").core(&[64], "64", "1");
        machine.cache([0, 6, 64], 0, 3, "0,6,64");
        let all = cpus_in_list("0,6,64");
        assert_eq!(machine.line(&all), "3 CPUs: 2 cores of 2 packages, 1 to 2 threads each, L3 shared by all");
    }

    #[test]
    fn a_cache_between_the_core_and_all() {
        let machine = Machine::new();
        for cpu in 0..8 {
            machine.core(&[cpu], &cpu.to_string(), "-1").cache([cpu], 0, 1, &cpu.to_string());
        }
        machine.cache(0..4, 1, 2, "0-3").cache(4..8, 1, 2, "4-7").cache(0..8, 2, 3, "0-7");
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(machine.line(&all), "8 CPUs: 8 cores, L3 shared by all, L2 shared in 2 groups of 4");
    }

    #[test]
    fn what_is_missing_is_left_out() {
        let machine = Machine::new();
        assert_eq!(machine.line(&[0, 1]), "unavailable");
        machine.write("node/node0/cpulist", "0-1");
        assert_eq!(machine.line(&[0, 1]), "2 CPUs: 1 NUMA node");
        // Of one CPU only, which says nothing of both.
        machine.core(&[0], "0", "0");
        assert_eq!(machine.line(&[0, 1]), "2 CPUs: 1 NUMA node");
        machine.write("cpu/cpu1/topology/thread_siblings_list", "1");
        assert_eq!(machine.line(&[0, 1]), "2 CPUs: 2 cores, 1 NUMA node");
        assert_eq!(machine.line(&[]), "unavailable");
    }
}
