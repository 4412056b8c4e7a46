//! What is known about the machine: an allow-list of facts. Never a host name, user, path, address, serial number or machine id.

use std::collections::BTreeMap;
#[cfg(target_env = "gnu")]
use std::ffi::CStr;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::sources::hash;

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

    /// Reads only what tells machines apart; starts no process.
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

/// Names that must never stand in a record: this host's and this user's.
pub fn private_names() -> Vec<String> {
    let variables = ["USER", "LOGNAME", "HOSTNAME"];
    let mut names: Vec<String> = variables.iter().filter_map(|name| std::env::var(name).ok()).collect();
    names.push(rustix::system::uname().nodename().to_string_lossy().into_owned());
    names.extend(read("/etc/machine-id"));
    // Shorter or more common ones would be found inside innocent words.
    names.retain(|name| name.len() > 3 && !["localhost", "root"].contains(&name.as_str()));
    names.sort();
    names.dedup();
    names
}

/// The folders that a text may name and must not, each with the word that stands for it: the longest first, since one may lie in another.
fn private_folders(checkout: &Path) -> Vec<(String, &'static str)> {
    let variables = [
        ("CARGO_TARGET_DIR", "[target]"),
        ("CARGO_HOME", "[cargo]"),
        ("RUSTUP_HOME", "[rustup]"),
        ("TMPDIR", "[temporary]"),
        ("HOME", "[home]"),
        ("PWD", "[here]"),
    ];
    let known = variables.into_iter().filter_map(|(name, word)| Some((std::env::var(name).ok()?, word)));
    let mut folders: Vec<_> = [(checkout.display().to_string(), "[checkout]")].into_iter().chain(known).collect();
    for (folder, _) in &mut folders {
        folder.truncate(folder.trim_end_matches('/').len());
    }
    // A single slash is everywhere, and what every machine has is nobody's.
    folders.retain(|(folder, _)| folder.starts_with('/') && !is_everywhere(folder));
    folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
    folders
}

/// Whether a path is one that machines have in common.
fn is_everywhere(path: &str) -> bool {
    const COMMON: [&str; 10] = ["proc", "sys", "dev", "etc", "usr", "lib", "lib64", "bin", "sbin", "rustc"];
    let mut parts = path.split('/').skip(1);
    let first = parts.next().unwrap_or_default();
    COMMON.contains(&first) || (["tmp", "root", ""].contains(&first) && parts.next().is_none())
}

/// Text without the folders that it names: the checkout, whose home it is, and any other that not every machine has, such as the one a program
/// was built in elsewhere. Of a path within them a file's name is left, and of one within a package of cargo's what is the package's.
pub fn without_folders(text: &str, checkout: &Path) -> String {
    let mut text = text.to_owned();
    if !text.contains('/') {
        return text;
    }
    for (folder, word) in private_folders(checkout) {
        let ends = Regex::new(&format!(r"{}([^\w-]|$)", regex::escape(&folder))).expect("an escaped path");
        text = ends.replace_all(&text, format!("{word}${{1}}")).into_owned();
    }
    let package = Regex::new(r"(?:/[^/\s:]+)*/registry/src/[^/\s]+/").expect("a literal that is well formed");
    let text = package.replace_all(&text, "[cargo]/");
    let path = Regex::new(r#"(^|[\s"'`(=\[<{,;:|])(/[^/\s"'`)\]>},;:|]+/[^\s"'`)\]>},;:|]*)"#)
        .expect("a literal that is well formed");
    let shown = |found: &Captures| {
        let (before, path) = (&found[1], &found[2]);
        match path.rsplit('/').next().filter(|file| file.trim_matches('.').contains('.')) {
            _ if is_everywhere(path) => format!("{before}{path}"),
            Some(file) => format!("{before}[folder]/{file}"),
            None => format!("{before}[folder]"),
        }
    };
    path.replace_all(&text, shown).into_owned()
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

fn read(path: &str) -> Option<String> {
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

/// The CPUs that a list such as `0-3,8` names.
fn cpus_in_list(list: &str) -> Vec<usize> {
    let cpus = |range: &str| match range.split_once('-') {
        Some((first, last)) => Some(first.parse().ok()?..=last.parse().ok()?),
        None => range.parse().ok().map(|cpu| cpu..=cpu),
    };
    list.split(',').filter_map(cpus).flatten().collect()
}

/// The CPUs that are threads of the same core as this one, itself among them; none where the kernel does not say.
pub fn same_core(cpu: usize) -> Vec<usize> {
    let list = read(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    cpus_in_list(&list.unwrap_or_default())
}

/// A processor's cache, as the kernel describes it.
pub struct Cache {
    level: String,
    kind: String,
    /// With `K` or `M`.
    size: String,
    /// The CPUs that share it.
    pub cpus: Vec<usize>,
}

impl Cache {
    /// How much it holds.
    pub fn bytes(&self) -> Option<f64> {
        bytes_of_cache(&self.size)
    }
}

/// The caches of a CPU, the nearest first.
fn caches_of(cpu: usize) -> Vec<Cache> {
    let cache = |index: usize| {
        let part = |name: &str| read(&format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}"));
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
fn bytes_of_cache(size: &str) -> Option<f64> {
    let (number, unit) = size.split_at_checked(size.len().checked_sub(1)?)?;
    Some(number.parse::<f64>().ok()? * if unit == "M" { 1024.0 * 1024.0 } else { 1024.0 })
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

/// As `getconf GNU_LIBC_VERSION` says it. Programs start on the one that this process runs on.
#[cfg(target_env = "gnu")]
fn c_library() -> Option<String> {
    // SAFETY: it may be called at any time, and points at a string of the library's own that ends in a null byte and never changes.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_str().ok()?))
}

#[cfg(not(target_env = "gnu"))]
fn c_library() -> Option<String> {
    None
}

fn command(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_compiler_flags_only_names_are_kept() {
        for (flags, kept) in [
            ("", "none"),
            ("-C target-cpu=native", "-C target-cpu, without their values"),
            (
                "-Ctarget-cpu=native --remap-path-prefix=/home/arthur-dent=.",
                "-Ctarget-cpu --remap-path-prefix, without their values",
            ),
            ("-L /home/arthur-dent/lib -L/opt/lib -C linker=/opt/ld", "-L -L -C linker, without their values"),
        ] {
            assert_eq!(flag_names(flags), kept);
        }
    }

    #[test]
    fn folders_are_named_by_a_neutral_word() {
        let text = without_folders("in /a/b/src and /a/b, not /a/bc", Path::new("/a/b"));
        assert_eq!(text, "in [checkout]/src and [checkout], not [folder]");
        for (said, kept) in [
            // What cargo built elsewhere carries that place's folders, which nothing here can know.
            (
                "panicked at /opt/x y/cargo/registry/src/index.io-1a/tokio-1.4.0/src/a.rs:10:5:",
                "panicked at [folder] y[cargo]/tokio-1.4.0/src/a.rs:10:5:",
            ),
            ("panicked at '/srv/ci/book/src/main.rs:3:1'", "panicked at '[folder]/main.rs:3:1'"),
            ("cannot open /nix/store/abc: denied", "cannot open [folder]: denied"),
            ("(/home/arthur-dent)", "([folder])"),
            ("PATH=/opt/arthur/bin:/usr/bin", "PATH=[folder]:/usr/bin"),
            // What every machine has is nobody's.
            (
                "/proc/sys/kernel/pid_max and /usr/bin/strace, /tmp, /",
                "/proc/sys/kernel/pid_max and /usr/bin/strace, /tmp, /",
            ),
            ("<b>wings</b> and /b", "<b>wings</b> and /b"),
            ("/rustc/59807616e1fa/library/std/src/io.rs:1:2", "/rustc/59807616e1fa/library/std/src/io.rs:1:2"),
            (
                "1/2 of usercopy/swapgs, see https://example.org/c/d",
                "1/2 of usercopy/swapgs, see https://example.org/c/d",
            ),
        ] {
            assert_eq!(without_folders(said, Path::new("/a/b")), kept, "{said}");
        }
    }

    #[test]
    fn cpu_lists_are_read() {
        assert_eq!(cpus_in_list("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(cpus_in_list("1"), [1]);
        assert!(cpus_in_list("").is_empty() && cpus_in_list("3-1").is_empty());
    }

    #[test]
    fn every_fact_is_known_or_says_why_not() {
        let facts = Facts::read();
        assert_eq!(facts.known.len() + facts.unavailable.len(), FACTS.len());
        assert!(facts.known.contains_key("kernel"));
        assert_eq!(facts.differences(&facts), Vec::<&str>::new());
    }

    #[test]
    #[cfg(target_env = "gnu")]
    fn the_c_library_is_the_one_that_the_system_names() {
        if let Some(version) = command("getconf", &["GNU_LIBC_VERSION"]) {
            assert_eq!(c_library(), Some(version));
        }
    }

    #[test]
    fn data_caches_are_read_from_their_description() {
        let text = "L1 data 32K, shared by 1; L1 instruction 32K, shared by 1; L2 unified 1024K, shared by 1; L3 unified 32M, shared by 2";
        let facts =
            Facts { known: BTreeMap::from([("caches of CPU 0".to_owned(), text.to_owned())]), ..Facts::default() };
        let names: Vec<(String, f64)> = facts.data_caches();
        let wanted = [("L1", 32768.0), ("L2", 1048576.0), ("L3", 33554432.0)];
        assert_eq!(names, wanted.map(|(name, bytes)| (name.to_owned(), bytes)));
    }

    #[test]
    fn only_listed_facts_survive_and_another_cpu_is_another_machine() {
        let mut facts = Facts::read();
        facts.known.insert("host name".to_owned(), "secret".to_owned());
        let mut exported = facts.allow_listed();
        assert!(!exported.known.contains_key("host name"));
        exported.known.insert("CPU".to_owned(), "another".to_owned());
        assert_eq!(exported.differences(&facts), ["CPU"]);
    }
}
