//! The allow-list: everything that may stand in a record about a machine, and where it is read.

use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

use plans::book::allocator::Allocator;

use super::provider::Firmware;
use super::{cpu, emulation, groups, hypervisor, kernel, mitigations, strain, topology};
use crate::files::{read, root, row};
use crate::private::plain;
use crate::processors::{Cache, caches_of, cpus_in_both, cpus_in_list, same_core};

/// One thing that is known of a machine.
pub struct Fact {
    /// As it stands in records, and on pages.
    pub name: &'static str,
    /// Whether numbers from a machine where this differs are another machine's.
    pub identity: bool,
    /// Whether it decides what a switch or an entry into the kernel costs, so that a reader must
    /// see it first.
    pub decides: bool,
    pub source: &'static str,
    /// Why it is not known, where its source alone does not tell.
    why_not: Option<&'static str>,
    read: fn() -> Option<String>,
}

impl Fact {
    /// What is known of it, as plain text.
    pub fn value(&self) -> Option<String> {
        (self.read)().map(|value| plain(&value))
    }

    /// Why it could not be read.
    pub fn reason(&self) -> String {
        self.why_not.map_or_else(|| format!("{} does not say", self.source), str::to_owned)
    }

    const fn decides(self) -> Self {
        Self { decides: true, ..self }
    }

    const fn or_because(self, reason: &'static str) -> Self {
        Self { why_not: Some(reason), ..self }
    }
}

const fn fact(name: &'static str, identity: bool, source: &'static str, read: fn() -> Option<String>) -> Fact {
    Fact { name, identity, decides: false, source, why_not: None, read }
}

/// What an entry into the kernel pays for, which older records tell by their list of mitigations.
pub const ON_ENTRY: &str = "mitigations on entry";

/// In the order in which pages list them: first what decides.
pub const FACTS: &[Fact] = &[
    fact("CPU", true, "/proc/cpuinfo", || cpu::name(&CPUINFO)).decides(),
    fact(ON_ENTRY, true, "/sys/devices/system/cpu/vulnerabilities, in few words of this book", || {
        Some(mitigations::on_entry(&mitigations::states()?, &cpu::name(&CPUINFO).unwrap_or_default()))
    })
    .decides()
    .or_because("/sys/devices/system/cpu/vulnerabilities does not say"),
    fact("kernel", true, "uname", kernel::release).decides(),
    fact(
        "preemption in force",
        true,
        "/sys/kernel/debug/sched/preempt, which only root can read; or preempt= on the kernel's command line; \
         or its configuration; or uname",
        kernel::preemption_in_force,
    )
    .decides()
    .or_because(
        "neither the kernel's command line nor its configuration or uname says; root can see it by: \
         cat /sys/kernel/debug/sched/preempt",
    ),
    fact(
        "HZ",
        true,
        "the resolution of CLOCK_MONOTONIC_COARSE; or the kernel's configuration",
        kernel::ticks_per_second,
    )
    .decides()
    .or_because("CLOCK_MONOTONIC_COARSE has no tick, and neither /proc/config.gz nor a configuration in /boot says"),
    fact("idle driver", true, "cpuidle", || read("/sys/devices/system/cpu/cpuidle/current_driver")).decides(),
    fact("haltpoll, ns", true, "/sys/module/haltpoll", || read("/sys/module/haltpoll/parameters/guest_halt_poll_ns"))
        .decides(),
    fact(
        "virtual machine",
        true,
        "/sys/hypervisor, CPU flags, clock sources; without CPU flags also the firmware",
        || hypervisor::kind(root(), &CPUINFO),
    )
    .decides()
    .or_because("this CPU has no flag for it, and neither /sys/hypervisor nor the firmware says"),
    fact("emulation", true, "/proc/cpuinfo, /sys/devices/system/cpu and what these programs are made for", || {
        emulation::emulation(root(), &CPUINFO)
    })
    .decides()
    .or_because("/proc/cpuinfo does not say which kind of CPU this is"),
    fact("machine", true, "/sys/class/dmi/id, or the device tree; makers not on our list are called other", || {
        Firmware::read(root()).map(|firmware| firmware.name())
    })
    .decides()
    .or_because("neither /sys/class/dmi/id nor a device tree says"),
    fact("topology", true, "/sys/devices/system/cpu and node, of the CPUs allowed", || {
        topology::line(root(), &cpus_in_list(&cpus_allowed()?))
    })
    .decides()
    .or_because("/sys/devices/system/cpu and node do not say"),
    fact("CPU quota", true, GROUPS, || groups::cpu_quota(root())).decides().or_because(NO_GROUPS),
    fact("CPU family, model, stepping", true, "/proc/cpuinfo; of ARM's implementer, part and edition", || {
        cpu::numbers(&CPUINFO)
    })
    .or_because("/proc/cpuinfo does not say"),
    fact("microcode", true, "/proc/cpuinfo", || cpu::row(&CPUINFO, "microcode").map(str::to_owned)),
    fact("CPUs online", true, "/sys/devices/system/cpu/online", || read("/sys/devices/system/cpu/online")),
    fact("CPUs allowed", true, "/proc/self/status, of the CPUs online", cpus_allowed),
    fact("threads per core", true, "/sys/devices/system/cpu/cpu0/topology", || {
        Some(same_core(0).len()).filter(|threads| *threads > 0).map(|threads| threads.to_string())
    }),
    fact("caches of CPU 0", true, "/sys/devices/system/cpu/cpu0/cache", caches),
    fact("memory", false, "/proc/meminfo", || row("/proc/meminfo", "MemTotal:")),
    fact("swap", false, "/proc/swaps", || strain::swap(root())),
    fact("kernel parameters", true, "/proc/cmdline", kernel::parameters),
    fact("scheduler parameters", true, "/proc/cmdline", kernel::scheduler_parameters),
    fact("nested_pvm", false, "/proc/cmdline", kernel::nested_pvm),
    fact("preemption", true, "uname", kernel::preemption),
    fact("mitigations", true, "/sys/devices/system/cpu/vulnerabilities", || {
        Some(mitigations::active(&mitigations::states()?))
    }),
    fact("frequency governor", true, "cpufreq", || read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
    fact("platform profile", true, "/sys/firmware/acpi", || read("/sys/firmware/acpi/platform_profile"))
        .or_because("this firmware has none"),
    fact("idle governor", true, "cpuidle", || read("/sys/devices/system/cpu/cpuidle/current_governor_ro")),
    fact("autogroup", true, "/proc/sys/kernel", || read("/proc/sys/kernel/sched_autogroup_enabled")),
    fact("clock source", true, "/sys/devices/system/clocksource", || {
        read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    }),
    fact("transparent huge pages", true, "/sys/kernel/mm", || read("/sys/kernel/mm/transparent_hugepage/enabled")),
    fact("C library", true, "the C library", c_library),
    fact("other allocators", false, "dpkg-query, of the packages of jemalloc and mimalloc", other_allocators)
        .or_because("dpkg-query is not there, or knows of none"),
    fact("control group, CPU limit", false, GROUPS, || groups::cpu_limit(root())).or_because(NO_GROUPS),
    fact("control group, memory limit", false, GROUPS, || groups::memory_limit(root())).or_because(NO_GROUPS),
    fact("control group, process limit", false, GROUPS, || groups::process_limit(root())).or_because(NO_GROUPS),
    fact("control group, CPUs", false, GROUPS, || groups::cpu_set(root())).or_because(NO_GROUPS),
    fact("limits: open files, processes, stack", false, "/proc/self/limits", limits),
    fact("Rust", false, "rustc -vV", || command("rustc", &["-V"])),
    fact("extra compiler flags", false, "RUSTFLAGS", || {
        Some(flag_names(&std::env::var("RUSTFLAGS").unwrap_or_default()))
    }),
];

const GROUPS: &str = "the tightest of the process's own control group and all above it that can be seen from here";

const NO_GROUPS: &str = "/proc/self/cgroup and what is mounted do not say";

/// What the kernel says of the CPUs. It is read once: some facts stand on it, and it is long where
/// there are many.
static CPUINFO: LazyLock<String> = LazyLock::new(|| read("/proc/cpuinfo").unwrap_or_default());

/// A list of CPUs that a process may use names also those that there are not, as far as the kernel
/// has room for more.
fn cpus_allowed() -> Option<String> {
    let allowed = row("/proc/self/status", "Cpus_allowed_list:")?;
    Some(read("/sys/devices/system/cpu/online").map_or(allowed.clone(), |online| cpus_in_both(&allowed, &online)))
}

fn caches() -> Option<String> {
    let describe =
        |cache: Cache| format!("L{} {} {}, shared by {}", cache.level, cache.kind, cache.size, cache.cpus.len());
    let caches: Vec<String> = caches_of(0).into_iter().map(describe).collect();
    Some(caches.join("; ")).filter(|text| !text.is_empty())
}

fn limits() -> Option<String> {
    let soft = |name: &str| Some(row("/proc/self/limits", name)?.split_whitespace().next()?.to_owned());
    let (files, processes, stack) = (soft("Max open files")?, soft("Max processes")?, soft("Max stack size")?);
    Some(format!("{files}, {processes}, {}", if stack == "unlimited" { stack } else { stack + " bytes" }))
}

/// The names of compiler flags: their values may be paths. A change of a value is seen from the
/// hash of all flags.
pub(super) fn flag_names(flags: &str) -> String {
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

/// Programs start on the C library that this says. A system with another than glibc knows nothing
/// of that name.
fn c_library() -> Option<String> {
    static KNOWN: OnceLock<Option<String>> = OnceLock::new();
    KNOWN.get_or_init(|| command("getconf", &["GNU_LIBC_VERSION"])).clone()
}

/// The packages of the allocators that conditions put in the C library's place, as far as they are
/// installed.
fn other_allocators() -> Option<String> {
    let packages = Allocator::EVERY.iter().flat_map(|allocator| allocator.packages);
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${db:Status-Status} ${Package} ${Version}\n"]).args(packages);
    // It fails where one is not known, and says what it knows of the others.
    let output = query.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let installed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("installed ")).collect();
    Some(installed.join(", ")).filter(|text| !text.is_empty())
}

fn command(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
