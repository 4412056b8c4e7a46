//! What is known about the machine: an allow-list of facts. Never a host name, user, path, address,
//! serial number or machine id.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use identity::checksum::hash;
use serde::{Deserialize, Serialize};

pub use self::changed::SETTABLE;
use self::files::{read, root};
use self::list::{FACTS, Fact, ON_ENTRY};
use self::processors::{bytes_of_cache, cpus_in_list};

pub mod answered;
mod changed;
mod cpu;
mod doubts;
mod emulation;
mod files;
mod groups;
mod hypervisor;
mod kernel;
mod list;
mod mitigations;
pub mod private;
pub mod processors;
mod provider;
mod strain;
mod topology;

/// Facts that do not change while the machine runs, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
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
    /// How often the control groups that this process is in were throttled since they exist, all
    /// together. Older records have only that of the one at the root.
    pub throttled: Option<u64>,
    /// Which start of the machine this is: a hash of a number that the kernel draws anew at each,
    /// and that says nothing of the machine. Records that were made before this was noted down lack
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// How often CPUs were slowed down for their heat since the machine was started, all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<u64>,
    /// Whether a battery feeds the machine; nothing where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_battery: Option<bool>,
    /// How many pages were moved to swap and back since the machine was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_pages: Option<u64>,
    /// What one reading of the clock takes, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ns: Option<u64>,
    /// By how much the clock moves at least when it moves, in nanoseconds, as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_ns: Option<u64>,
}

/// What older records say of a fact that nobody had looked for.
const NEVER_READ: &str = "/proc/config.gz does not say";

/// Said of a fact that is computed from what an older record has.
const AS_FAR_AS_NOTED: &str = "as far as was noted then";

/// A fact as it is shown.
pub struct Listed<'a> {
    pub name: &'static str,
    /// Whether it stands among the first.
    pub decides: bool,
    /// What is known of it.
    pub known: Known<'a>,
}

/// What is known of a fact.
pub enum Known<'a> {
    Yes(Cow<'a, str>),
    No(&'a str),
    /// Nobody had looked for it when this was measured.
    NotLookedFor,
}

impl Facts {
    /// Reads everything on the list.
    pub fn read() -> Self {
        let mut facts = Self::default();
        FACTS.iter().for_each(|fact| facts.note(fact));
        facts
    }

    /// Reads one, or why it cannot be read.
    fn note(&mut self, fact: &Fact) {
        match fact.value() {
            Some(value) => self.known.insert(fact.name.to_owned(), value),
            None => self.unavailable.insert(fact.name.to_owned(), fact.reason()),
        };
    }

    /// Reads only what tells machines apart.
    pub fn read_identity() -> Self {
        let known = FACTS.iter().filter(|fact| fact.identity);
        let known = known.filter_map(|fact| Some((fact.name.to_owned(), fact.value()?)));
        Self { known: known.collect(), unavailable: BTreeMap::new() }
    }

    /// All facts in the list's order; whatever else a record holds is left out.
    pub fn listed(&self) -> Vec<Listed<'_>> {
        let known = |fact: &'static Fact| match (self.known.get(fact.name), self.unavailable.get(fact.name)) {
            (Some(value), _) => Known::Yes(Cow::Borrowed(value.as_str())),
            (None, Some(reason)) if reason != NEVER_READ => Known::No(reason),
            // Older records have what this is computed from.
            _ if fact.name == ON_ENTRY => match self.mitigations_on_entry() {
                Some(words) => Known::Yes(Cow::Owned(format!("{words}, {AS_FAR_AS_NOTED}"))),
                None => Known::NotLookedFor,
            },
            _ => Known::NotLookedFor,
        };
        FACTS.iter().map(|fact| Listed { name: fact.name, decides: fact.decides, known: known(fact) }).collect()
    }

    /// Where each fact is read, in the list's order.
    pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
        FACTS.iter().map(|fact| (fact.name, fact.source))
    }

    /// What an entry into the kernel pays for against the leaks of CPUs, in few words that can be
    /// compared: `retpolines, no PTI`. Of an older record, by what it lists as mitigations; it
    /// lacks what the kernel does and calls vulnerable all the same, for want of microcode.
    pub fn mitigations_on_entry(&self) -> Option<String> {
        let get = |name: &str| self.known.get(name);
        get(ON_ENTRY).cloned().or_else(|| {
            let states = mitigations::states_in(get("mitigations")?);
            Some(mitigations::on_entry(&states, get("CPU").map_or("", String::as_str)))
        })
    }

    /// Only what is on the list.
    pub fn allow_listed(&self) -> Self {
        let listed = |name: &String| FACTS.iter().any(|fact| fact.name == name);
        let only = |map: &BTreeMap<String, String>| {
            map.iter().filter(|(name, _)| listed(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Self { known: only(&self.known), unavailable: only(&self.unavailable) }
    }

    /// The names of the facts that make this another machine than `other`. What only one of them
    /// knows tells no machines apart: it may not have been looked for then, or not be readable by
    /// everybody.
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
            self.known.get("CPUs allowed").map_or("unknown".to_owned(), |list| cpus_in_list(list).len().to_string()),
            get("kernel"),
        )
    }

    /// What a sentence calls it, such as `an AMD EPYC (Zen 5) with 2 CPUs`.
    pub fn phrase(&self) -> Option<String> {
        let cpu = self.known.get("CPU")?.replace("(R)", "").replace("(TM)", "").replace(" Processor", "");
        let article = if cpu.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
        let generation = self.generation().map_or(String::new(), |name| format!(" ({name})"));
        let cpus = cpus_in_list(self.known.get("CPUs allowed")?).len();
        Some(format!("{article} {}{generation} with {cpus} CPU{}", cpu.trim(), if cpus == 1 { "" } else { "s" }))
    }

    /// The design of its CPU, which virtual machines leave out of the CPU's name.
    fn generation(&self) -> Option<&'static str> {
        let numbers = self.known.get("CPU family, model, stepping")?;
        let mut numbers = numbers.split(", ").map(|number| number.parse::<u32>().ok());
        match (numbers.next()??, numbers.next()??) {
            (25, 0..=15) => Some("Zen 3"),
            (25, 16..=31 | 160..=175) => Some("Zen 4"),
            (26, _) => Some("Zen 5"),
            (6, 143) => Some("Sapphire Rapids"),
            (6, 207) => Some("Emerald Rapids"),
            _ => None,
        }
    }

    /// The compiler. It is no part of what tells machines apart, but what another one compiled is
    /// something else.
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
}

impl State {
    pub fn read() -> Self {
        let first = |path, field: usize| read(path)?.split_whitespace().nth(field).map(str::to_owned);
        Self {
            time: now(),
            load: first("/proc/loadavg", 0).and_then(|load| load.parse().ok()),
            steal_ticks: first("/proc/stat", 8).and_then(|steal| steal.parse().ok()),
            throttled: groups::throttled(root()),
            boot: read("/proc/sys/kernel/random/boot_id").map(|id| hash(id.as_bytes())),
            heat: strain::heat(root()),
            on_battery: strain::on_battery(root()),
            swapped_pages: strain::swapped_pages(root()),
            clock_ns: Some(strain::clock_ns()),
            clock_step_ns: strain::clock_step_ns(),
        }
    }

    /// The day, in UTC.
    pub fn day(&self) -> &str {
        day_of(&self.time)
    }
}

/// The day of a time that is written as `2026-11-25T12:00:00Z`.
pub fn day_of(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests;
