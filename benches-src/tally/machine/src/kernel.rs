//! How the kernel was built and started, as far as it changes what a switch or an entry costs.

use std::borrow::Cow;
use std::ffi::CStr;
use std::fs;
use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use rustix::system::{Uname, uname};
use rustix::time::{ClockId, clock_getres};

use crate::answered::answered;
use crate::files::read;

/// What uname says, if it may be asked.
static NAMES: LazyLock<Option<Uname>> = LazyLock::new(|| answered(uname));

/// What the kernel calls this release of it.
pub fn release() -> Option<String> {
    Some(NAMES.as_ref()?.release().to_string_lossy().into_owned())
}

/// What this machine is called among others.
pub fn host() -> Option<String> {
    NAMES
        .as_ref()
        .map(|names| names.nodename().to_string_lossy().into_owned())
        .or_else(|| read("/proc/sys/kernel/hostname"))
}

/// The number of `nested_pvm`, by which some hosts of this book's machines start the kernels of
/// their guests. It has no documentation that we know of.
pub fn nested_pvm() -> Option<String> {
    let text = read("/proc/cmdline")?;
    let value = text.split_whitespace().find_map(|word| word.strip_prefix("nested_pvm="));
    Some(value.map_or("not set", |value| if value == "0" { "0" } else { "1" }).to_owned())
}

/// Parameters that move scheduling, idling and what an entry into the kernel costs; the rest of the
/// command line is nobody's business.
pub fn parameters() -> Option<String> {
    const ALLOWED: &[&str] = &[
        "mitigations",
        "spectre_v2",
        "retbleed",
        "spec_rstack_overflow",
        "pti",
        "nopti",
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
    Some(words_of(&read("/proc/cmdline")?, |name, _| ALLOWED.contains(&name)))
}

/// The command line's parameters of the scheduler, whatever kernel has them: their names begin
/// alike, and their values are words or numbers. They are a fact of their own: older records do not
/// know them, and are of the same machine.
pub fn scheduler_parameters() -> Option<String> {
    Some(words_of(&read("/proc/cmdline")?, is_schedulers))
}

fn is_schedulers(name: &str, value: &str) -> bool {
    let is_plain = |text: &str| text.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"_-,.:".contains(&sign));
    ["sched_", "sysctl.kernel.sched_"].iter().any(|begin| name.starts_with(begin)) && is_plain(name) && is_plain(value)
}

fn words_of(command_line: &str, allowed: impl Fn(&str, &str) -> bool) -> String {
    let allowed = |word: &&str| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        allowed(name, value)
    };
    let words: Vec<&str> = command_line.split_whitespace().filter(allowed).collect();
    if words.is_empty() { "none that matter here".to_owned() } else { words.join(" ") }
}

/// Ticks of the kernel's timer per second. Everybody may ask how coarse the coarse clock is, which
/// is one tick; the configuration answers where that is no tick, as on what only looks like Linux.
pub fn ticks_per_second() -> Option<String> {
    let tick = answered(|| clock_getres(ClockId::MonotonicCoarse)).filter(|tick| tick.tv_sec == 0);
    let exact = tick.and_then(|tick| hertz(tick.tv_nsec));
    exact.map(|hertz| hertz.to_string()).or_else(|| configured(&configuration()?, "CONFIG_HZ"))
}

/// The frequency whose tick the kernel rounds to this many ns; none where no kernel can be built
/// with it.
fn hertz(tick_ns: i64) -> Option<i64> {
    const SECOND: i64 = 1_000_000_000;
    let rounded = |of: i64| (SECOND + of / 2) / of;
    let hertz = (tick_ns > 0).then(|| rounded(tick_ns))?;
    ((24..=10_000).contains(&hertz) && rounded(hertz) == tick_ns).then_some(hertz)
}

/// What uname says of preemption. `PREEMPT_DYNAMIC` only says that the mode can be chosen.
pub fn preemption() -> Option<String> {
    preemption_word(&NAMES.as_ref()?.version().to_string_lossy()).map(str::to_owned)
}

fn preemption_word(version: &str) -> Option<&str> {
    version.split_whitespace().find(|word| word.starts_with("PREEMPT"))
}

/// The mode of preemption that is in force: `none`, `voluntary`, `full` or `lazy`.
pub fn preemption_in_force() -> Option<String> {
    let word = |of: fn(&Uname) -> &CStr| NAMES.as_ref().map_or(Cow::Borrowed(""), |names| of(names).to_string_lossy());
    Preemption {
        switch: read("/sys/kernel/debug/sched/preempt").as_deref(),
        parameters: &read("/proc/cmdline").unwrap_or_default(),
        configuration: configuration().as_deref(),
        release: &word(Uname::release),
        version: &word(Uname::version),
        architecture: &word(Uname::machine),
    }
    .in_force()
}

/// All that says which mode of preemption is in force.
struct Preemption<'a> {
    /// The file of debugfs with all modes, the one in force in brackets. Only root can read it.
    switch: Option<&'a str>,
    parameters: &'a str,
    configuration: Option<&'a str>,
    /// Of uname, as are the next two.
    release: &'a str,
    version: &'a str,
    architecture: &'a str,
}

impl Preemption<'_> {
    fn in_force(&self) -> Option<String> {
        let switch = self.switch.and_then(|modes| Some(modes.split_once('(')?.1.split_once(')')?.0));
        let mode = switch.or_else(|| self.asked_for()).or_else(|| self.built_in()).or_else(|| self.derived());
        mode.map(str::to_owned)
    }

    /// The last mode that the command line asks for and this kernel knows: it goes on as built with
    /// any other.
    fn asked_for(&self) -> Option<&str> {
        let is_dynamic = preemption_word(self.version) == Some("PREEMPT_DYNAMIC")
            || self.configuration.is_some_and(|text| is_set(text, "CONFIG_PREEMPT_DYNAMIC"));
        // What follows two dashes is for the first process.
        let words = self.parameters.split_whitespace().take_while(|word| *word != "--");
        let modes = words.filter_map(|word| word.strip_prefix("preempt="));
        modes.filter(|mode| is_dynamic && self.knows(mode)).last()
    }

    /// Whether the mode can be chosen. Lazy preemption came with Linux 6.13. Since 7.0, an
    /// architecture that has it has neither of the two modes that it replaces.
    fn knows(&self, mode: &str) -> bool {
        const LAZY: [&str; 8] = ["x86_64", "i686", "aarch64", "riscv64", "loongarch64", "ppc64", "ppc64le", "s390x"];
        match mode {
            "full" => true,
            "lazy" => self.is_since(6, 13),
            "none" | "voluntary" => !(self.is_since(7, 0) && LAZY.contains(&self.architecture)),
            _ => false,
        }
    }

    /// The mode that the kernel starts with.
    fn built_in(&self) -> Option<&'static str> {
        const MODES: [(&str, &str); 4] = [
            ("CONFIG_PREEMPT_NONE", "none"),
            ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
            ("CONFIG_PREEMPT", "full"),
            ("CONFIG_PREEMPT_LAZY", "lazy"),
        ];
        let text = self.configuration?;
        MODES.iter().find(|(name, _)| is_set(text, name)).map(|(_, mode)| *mode)
    }

    /// What uname leaves of the modes for a kernel that cannot be switched.
    fn derived(&self) -> Option<&'static str> {
        match preemption_word(self.version) {
            None => Some("none or voluntary"),
            Some("PREEMPT" | "PREEMPT_RT") if !self.is_since(6, 13) => Some("full"),
            Some(_) => None,
        }
    }

    fn is_since(&self, major: u32, minor: u32) -> bool {
        let mut numbers =
            self.release.split(|letter: char| !letter.is_ascii_digit()).map_while(|part| part.parse().ok());
        numbers.next().zip(numbers.next()).is_some_and(|own: (u32, u32)| own >= (major, minor))
    }
}

/// What the kernel was built with, where everybody may read it.
fn configuration() -> Option<String> {
    let unpacked = || {
        let mut text = String::new();
        GzDecoder::new(fs::File::open("/proc/config.gz").ok()?).read_to_string(&mut text).ok()?;
        Some(text)
    };
    unpacked().or_else(|| fs::read_to_string(format!("/boot/config-{}", release()?)).ok())
}

fn configured(configuration: &str, name: &str) -> Option<String> {
    let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    configuration.lines().find_map(value)
}

fn is_set(configuration: &str, name: &str) -> bool {
    configured(configuration, name).as_deref() == Some("y")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_says_how_many_there_are_in_a_second() {
        for (tick_ns, per_second) in [(10_000_000, 100), (4_000_000, 250), (3_333_333, 300), (1_000_000, 1000)] {
            assert_eq!(hertz(tick_ns), Some(per_second));
        }
        assert_eq!(hertz(976_563), Some(1024));
        // As exact as any clock, which is no tick, or nonsense.
        for tick_ns in [1, 0, -4_000_000, 4_000_001, 999_999_999] {
            assert_eq!(hertz(tick_ns), None, "{tick_ns}");
        }
    }

    const DYNAMIC: Preemption = Preemption {
        switch: None,
        parameters: "quiet",
        configuration: None,
        release: "6.18.44",
        version: "#1 SMP PREEMPT_DYNAMIC",
        architecture: "x86_64",
    };

    const FIXED: Preemption = Preemption { version: "#1 SMP PREEMPT", release: "5.10.0-8", ..DYNAMIC };

    fn mode(of: &Preemption) -> String {
        of.in_force().unwrap_or_else(|| "unavailable".to_owned())
    }

    #[test]
    fn the_switch_of_root_says_most() {
        assert_eq!(
            mode(&Preemption { switch: Some("none voluntary (full) lazy"), parameters: "preempt=none", ..DYNAMIC }),
            "full"
        );
        assert_eq!(mode(&Preemption { switch: Some("gibberish"), ..DYNAMIC }), "unavailable");
    }

    #[test]
    fn the_command_line_is_next_where_the_kernel_heeds_it() {
        assert_eq!(mode(&Preemption { parameters: "preempt=none preempt=voluntary quiet", ..DYNAMIC }), "voluntary");
        assert_eq!(mode(&Preemption { parameters: "preempt=lazy", ..DYNAMIC }), "lazy");
        for parameters in ["preempt=lots", "preempt=", "preempt", "quiet -- preempt=full"] {
            assert_eq!(mode(&Preemption { parameters, ..DYNAMIC }), "unavailable", "{parameters}");
        }
        assert_eq!(mode(&Preemption { parameters: "preempt=lazy", release: "6.12.1", ..DYNAMIC }), "unavailable");
        let new = Preemption { parameters: "preempt=none", release: "7.0.0-rc1", ..DYNAMIC };
        assert_eq!(mode(&new), "unavailable");
        assert_eq!(mode(&Preemption { architecture: "mips64", ..new }), "none");
        // A kernel that cannot be switched goes its own way.
        assert_eq!(mode(&Preemption { parameters: "preempt=none", ..FIXED }), "full");
    }

    #[test]
    fn the_configuration_says_what_a_kernel_starts_with() {
        let configuration =
            Some("# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_VOLUNTARY=y\n");
        assert_eq!(mode(&Preemption { configuration, ..DYNAMIC }), "voluntary");
        assert_eq!(mode(&Preemption { configuration, parameters: "preempt=full", ..DYNAMIC }), "full");
        assert_eq!(mode(&Preemption { configuration: Some("CONFIG_HZ=250\n"), ..DYNAMIC }), "unavailable");
        let real_time = Some("CONFIG_PREEMPT_RT=y\nCONFIG_PREEMPT_LAZY=y\n");
        let version = "#1 SMP PREEMPT_RT";
        assert_eq!(mode(&Preemption { configuration: real_time, version, ..DYNAMIC }), "lazy");
    }

    #[test]
    fn the_name_of_a_kernel_that_cannot_be_switched_says_the_rest() {
        assert_eq!(mode(&FIXED), "full");
        assert_eq!(mode(&Preemption { version: "#1 SMP PREEMPT_RT Debian", ..FIXED }), "full");
        assert_eq!(mode(&Preemption { version: "#1 SMP Debian 5.10", ..FIXED }), "none or voluntary");
        // It may be lazy as well.
        assert_eq!(mode(&Preemption { release: "6.13.0", ..FIXED }), "unavailable");
        assert_eq!(mode(&DYNAMIC), "unavailable");
    }

    #[test]
    fn parameters_of_the_scheduler_are_kept_and_nobodys_folders() {
        let kept = |line: &str| words_of(line, is_schedulers);
        assert_eq!(
            kept(
                "root=/dev/sda1 nosmt sched_verbose sched_debug=1 sysctl.kernel.sched_autogroup_enabled=0 scheduler=x"
            ),
            "sched_verbose sched_debug=1 sysctl.kernel.sched_autogroup_enabled=0"
        );
        assert_eq!(kept("sched_log=/home/arthur nosmt2"), "none that matter here");
    }

    #[test]
    fn a_configuration_is_read_by_whole_names() {
        assert_eq!(configured("CONFIG_HZ_250=y\nCONFIG_HZ=250\n", "CONFIG_HZ").as_deref(), Some("250"));
        assert!(!is_set("CONFIG_PREEMPT_DYNAMIC=y\n", "CONFIG_PREEMPT"));
    }
}
