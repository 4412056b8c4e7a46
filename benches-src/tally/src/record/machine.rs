//! What is known about the machine: an allow-list of facts. Never a host name, user, path, address, serial number or machine id.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::Command;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use super::processors::{Cache, bytes_of_cache, caches_of, cpus_in_list, same_core};
use crate::record::sources::hash;

/// Facts that do not change while the machine runs, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What could be read.
    pub known: BTreeMap<String, String>,
    /// What could not be read, and why.
    pub unavailable: BTreeMap<String, String>,
}

/// What differs from minute to minute.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// UTC, to the second.
    pub time: String,
    /// The load average over the last minute.
    pub load: Option<f64>,
    /// CPU time that the hypervisor took since boot, in clock ticks.
    pub steal_ticks: Option<u64>,
    /// How often the control group was throttled since it exists.
    pub throttled: Option<u64>,
    /// Which start of the machine this is: a hash of a number that the kernel draws anew at each, and that says nothing of the machine.
    /// Records that were made before this was noted down lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

struct Fact {
    name: &'static str,
    /// Whether numbers from a machine where this differs are another machine's.
    identity: bool,
    read: fn() -> Option<String>,
    source: &'static str,
}

const fn fact(name: &'static str, identity: bool, source: &'static str, read: fn() -> Option<String>) -> Fact {
    Fact { name, identity, read, source }
}

/// Everything that may stand in a record, in the order in which pages list it.
const FACTS: &[Fact] = &[
    fact("CPU", true, "/proc/cpuinfo", || cpuinfo("model name")),
    fact("CPU family, model, stepping", true, "/proc/cpuinfo", || {
        Some(format!("{}, {}, {}", cpuinfo("cpu family")?, cpuinfo("model")?, cpuinfo("stepping")?))
    }),
    fact("microcode", true, "/proc/cpuinfo", || cpuinfo("microcode")),
    fact("CPUs online", true, "/sys/devices/system/cpu/online", || read("/sys/devices/system/cpu/online")),
    fact("CPUs allowed", true, "/proc/self/status", || row("/proc/self/status", "Cpus_allowed_list:")),
    fact("threads per core", true, "/sys/devices/system/cpu/cpu0/topology", || {
        Some(same_core(0).len()).filter(|threads| *threads > 0).map(|threads| threads.to_string())
    }),
    fact("caches of CPU 0", true, "/sys/devices/system/cpu/cpu0/cache", caches),
    fact("virtual machine", true, "/sys/hypervisor, CPU flags", hypervisor),
    fact("memory", false, "/proc/meminfo", || row("/proc/meminfo", "MemTotal:")),
    fact("kernel", true, "uname", || Some(rustix::system::uname().release().to_string_lossy().into_owned())),
    fact("kernel parameters", true, "/proc/cmdline", kernel_parameters),
    fact("preemption", true, "uname", preemption),
    fact(
        "preemption in force",
        true,
        "/sys/kernel/debug/sched/preempt, which only root can read, ",
        preemption_in_force,
    ),
    fact("HZ", true, "neither /proc/config.gz nor the file of the kernel's configuration in /boot", || {
        configured("CONFIG_HZ")
    }),
    fact("mitigations", true, "/sys/devices/system/cpu/vulnerabilities", mitigations),
    fact("frequency governor", true, "cpufreq", || read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
    fact("idle driver", true, "cpuidle", || read("/sys/devices/system/cpu/cpuidle/current_driver")),
    fact("idle governor", true, "cpuidle", || read("/sys/devices/system/cpu/cpuidle/current_governor_ro")),
    fact("haltpoll, ns", true, "/sys/module/haltpoll", || read("/sys/module/haltpoll/parameters/guest_halt_poll_ns")),
    fact("autogroup", true, "/proc/sys/kernel", || read("/proc/sys/kernel/sched_autogroup_enabled")),
    fact("clock source", true, "/sys/devices/system/clocksource", || {
        read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    }),
    fact("transparent huge pages", true, "/sys/kernel/mm", || read("/sys/kernel/mm/transparent_hugepage/enabled")),
    fact("C library", true, "the C library", c_library),
    fact("control group, CPU limit", false, "/sys/fs/cgroup", || {
        read("/sys/fs/cgroup/cpu.max").or_else(|| read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
    }),
    fact("control group, memory limit", false, "/sys/fs/cgroup", || {
        read("/sys/fs/cgroup/memory.max").or_else(|| read("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
    }),
    fact("limits: open files, processes, stack", false, "/proc/self/limits", limits),
    fact("Rust", false, "rustc -vV", || command("rustc", &["-V"])),
    fact("extra compiler flags", false, "RUSTFLAGS", || {
        Some(flag_names(&std::env::var("RUSTFLAGS").unwrap_or_default()))
    }),
];

/// What older records say of a fact that nobody had looked for.
const NEVER_READ: &str = "/proc/config.gz does not say";

/// What is so instead.
const NOT_LOOKED_FOR: &str = "it was not looked for when this was measured";

impl Facts {
    /// Reads everything on the list.
    pub fn read() -> Self {
        let mut facts = Self::default();
        for fact in FACTS {
            match (fact.read)() {
                Some(value) => facts.known.insert(fact.name.to_owned(), value),
                None => facts.unavailable.insert(fact.name.to_owned(), format!("{} does not say", fact.source)),
            };
        }
        facts
    }

    /// Reads only what tells machines apart.
    pub fn read_identity() -> Self {
        let known = FACTS.iter().filter(|fact| fact.identity);
        let known = known.filter_map(|fact| Some((fact.name.to_owned(), (fact.read)()?)));
        Self { known: known.collect(), unavailable: BTreeMap::new() }
    }

    /// The facts in the list's order; whatever else a record holds is left out.
    pub fn listed(&self) -> Vec<(&str, Result<&str, &str>)> {
        let value = |fact: &Fact| match (self.known.get(fact.name), self.unavailable.get(fact.name)) {
            (Some(value), _) => Some((fact.name, Ok(value.as_str()))),
            (None, Some(reason)) if reason == NEVER_READ => Some((fact.name, Err(NOT_LOOKED_FOR))),
            (None, Some(reason)) => Some((fact.name, Err(reason.as_str()))),
            (None, None) => None,
        };
        FACTS.iter().filter_map(value).collect()
    }

    /// Only what is on the list.
    pub fn allow_listed(&self) -> Self {
        let listed = |name: &String| FACTS.iter().any(|fact| fact.name == name);
        let only = |map: &BTreeMap<String, String>| {
            map.iter().filter(|(name, _)| listed(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Self { known: only(&self.known), unavailable: only(&self.unavailable) }
    }

    /// The names of the facts that make this another machine than `other`. What only one of them knows tells no machines apart: it may not have been
    /// looked for then, or not be readable by everybody.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let known = |fact: &Fact| self.known.get(fact.name).zip(other.known.get(fact.name));
        let differs = |fact: &&Fact| fact.identity && known(fact).is_some_and(|(own, others)| own != others);
        FACTS.iter().filter(differs).map(|fact| fact.name).collect()
    }

    /// One line: what a reader must know before the first number.
    pub fn summary(&self) -> String {
        let get = |name: &str| self.known.get(name).map_or("unknown", String::as_str);
        let virtual_machine = match get("virtual machine") {
            "no" | "unknown" => String::new(),
            kind => format!("virtual machine ({kind}), "),
        };
        format!(
            "{}, {} CPUs allowed, {virtual_machine}Linux {}",
            get("CPU"),
            self.known.get("CPUs allowed").map_or(0, |list| cpus_in_list(list).len()),
            get("kernel"),
        )
    }

    /// The compiler. It is no part of what tells machines apart, but what another one compiled is something else.
    pub fn compiler(&self) -> Option<&str> {
        self.known.get("Rust").map(String::as_str)
    }

    /// CPU 0's caches that hold data: name and bytes.
    pub fn data_caches(&self) -> Vec<(String, f64)> {
        let text = self.known.get("caches of CPU 0").map_or("", String::as_str);
        let cache = |description: &str| {
            let mut words = description.split([' ', ',']).filter(|word| !word.is_empty());
            let (level, kind, size) = (words.next()?, words.next()?, words.next()?);
            let bytes = bytes_of_cache(size)?;
            (kind != "instruction").then(|| (level.to_owned(), bytes))
        };
        text.split(';').filter_map(cache).collect()
    }

    /// What about the machine itself calls for care.
    pub fn doubts(&self) -> Vec<String> {
        let get = |name: &str| self.known.get(name).map(String::as_str);
        let mut doubts = Vec::new();
        if get("virtual machine").is_some_and(|kind| kind != "no") {
            doubts.push("a virtual machine: its host's scheduler and neighbours are in every number".to_owned());
        }
        if get("CPUs allowed").is_some_and(|list| cpus_in_list(list).len() < 4) {
            doubts
                .push("fewer than four CPUs: programs that are free to use all of them have little freedom".to_owned());
        }
        if get("haltpoll, ns") == Some("0") || get("idle driver") == Some("haltpoll") {
            doubts.push("an idle CPU halts to the hypervisor, so waking one costs an interrupt through it".to_owned());
        }
        if get("frequency governor").is_some_and(|governor| governor != "performance") {
            doubts.push("the clock frequency follows the load".to_owned());
        }
        doubts
    }
}

impl State {
    /// Reads it now.
    pub fn read() -> Self {
        let first = |path, field: usize| read(path)?.split_whitespace().nth(field).map(str::to_owned);
        let throttled = |path| row(path, "nr_throttled")?.parse().ok();
        Self {
            time: now(),
            load: first("/proc/loadavg", 0).and_then(|load| load.parse().ok()),
            steal_ticks: first("/proc/stat", 8).and_then(|steal| steal.parse().ok()),
            throttled: throttled("/sys/fs/cgroup/cpu.stat").or_else(|| throttled("/sys/fs/cgroup/cpu/cpu.stat")),
            boot: read("/proc/sys/kernel/random/boot_id").map(|id| hash(id.as_bytes())),
        }
    }

    /// The day, in UTC.
    pub fn day(&self) -> &str {
        self.time.split('T').next().unwrap_or_default()
    }
}

/// The names of compiler flags: their values may be paths. A change of a value is seen from the hash of all flags.
fn flag_names(flags: &str) -> String {
    let mut names = Vec::new();
    let mut is_name = false;
    for word in flags.split_whitespace() {
        if is_name || word.starts_with('-') {
            names.extend(word.split(['=', '/']).next());
        }
        is_name = ["-C", "-Z"].contains(&word);
    }
    if names.is_empty() { "none".to_owned() } else { format!("{}, without their values", names.join(" ")) }
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(super) fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn row(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_owned())
}

fn cpuinfo(name: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut rows = text.lines().filter_map(|line| line.split_once(':'));
    rows.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

fn caches() -> Option<String> {
    let describe =
        |cache: Cache| format!("L{} {} {}, shared by {}", cache.level, cache.kind, cache.size, cache.cpus.len());
    let caches: Vec<String> = caches_of(0).into_iter().map(describe).collect();
    Some(caches.join("; ")).filter(|text| !text.is_empty())
}

fn hypervisor() -> Option<String> {
    let flags = cpuinfo("flags")?;
    if !flags.split_whitespace().any(|flag| flag == "hypervisor") {
        return Some("no".to_owned());
    }
    Some(read("/sys/hypervisor/type").or_else(clock_hypervisor).unwrap_or_else(|| "kind unknown".to_owned()))
}

/// A guest's own clock source gives its host away.
fn clock_hypervisor() -> Option<String> {
    let clocks = read("/sys/devices/system/clocksource/clocksource0/available_clocksource")?;
    let known = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    known.iter().find(|(clock, _)| clocks.contains(clock)).map(|(_, name)| (*name).to_owned())
}

/// Parameters that move scheduling and idling; the rest of the command line is nobody's business.
fn kernel_parameters() -> Option<String> {
    const ALLOWED: &[&str] = &[
        "mitigations",
        "isolcpus",
        "nohz_full",
        "nohz",
        "rcu_nocbs",
        "idle",
        "processor.max_cstate",
        "preempt",
        "intel_idle.max_cstate",
        "haltpoll.guest_halt_poll_ns",
        "cpuidle_haltpoll.force",
        "transparent_hugepage",
        "nosmt",
        "threadirqs",
        "skew_tick",
        "clocksource",
        "tsc",
    ];
    let text = read("/proc/cmdline")?;
    let allowed = |word: &&str| ALLOWED.contains(&word.split('=').next().unwrap_or_default());
    let words: Vec<&str> = text.split_whitespace().filter(allowed).collect();
    Some(if words.is_empty() { "none that matter here".to_owned() } else { words.join(" ") })
}

fn preemption() -> Option<String> {
    let uname = rustix::system::uname();
    let version = uname.version().to_string_lossy().into_owned();
    version.split_whitespace().find(|word| word.starts_with("PREEMPT")).map(str::to_owned)
}

/// The word in brackets of the modes that a kernel can be switched between: which one it was built for does not say which is in force.
fn preemption_in_force() -> Option<String> {
    let modes = read("/sys/kernel/debug/sched/preempt")?;
    Some(modes.split_once('(')?.1.split_once(')')?.0.to_owned())
}

/// What the kernel was built with, where its configuration can be read.
fn configured(name: &str) -> Option<String> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let unpacked = || {
        let mut text = String::new();
        GzDecoder::new(fs::File::open("/proc/config.gz").ok()?).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let text = unpacked().or_else(|| fs::read_to_string(format!("/boot/config-{release}")).ok())?;
    let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    text.lines().find_map(value)
}

fn mitigations() -> Option<String> {
    let mut active = Vec::new();
    for entry in fs::read_dir("/sys/devices/system/cpu/vulnerabilities").ok()?.flatten() {
        let state = fs::read_to_string(entry.path()).ok()?;
        if let Some(mitigation) = state.trim().strip_prefix("Mitigation: ") {
            active.push(format!("{}: {mitigation}", entry.file_name().to_string_lossy()));
        }
    }
    active.sort();
    Some(if active.is_empty() { "none active".to_owned() } else { active.join("; ") })
}

fn limits() -> Option<String> {
    let soft = |name: &str| Some(row("/proc/self/limits", name)?.split_whitespace().next()?.to_owned());
    let (files, processes, stack) = (soft("Max open files")?, soft("Max processes")?, soft("Max stack size")?);
    Some(format!("{files}, {processes}, {}", if stack == "unlimited" { stack } else { stack + " bytes" }))
}

/// Programs start on the C library that this says. A system with another than glibc knows nothing of that name.
fn c_library() -> Option<String> {
    static KNOWN: OnceLock<Option<String>> = OnceLock::new();
    KNOWN.get_or_init(|| command("getconf", &["GNU_LIBC_VERSION"])).clone()
}

fn command(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
