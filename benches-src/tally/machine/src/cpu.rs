//! What a CPU is called. ARM's have numbers, where others have a name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// A row of `/proc/cpuinfo`: the first CPU's.
pub fn row<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut rows = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    rows.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// The name of the CPU that is described, of different ones with how many there are: `4 ×
/// Cortex-A55, 4 × Cortex-A76`.
pub fn name(cpuinfo: &str) -> Option<String> {
    let mut names: Vec<(String, usize)> = Vec::new();
    for core in cores(cpuinfo) {
        let name = core.name();
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => names.push((name, 1)),
        }
    }
    match &names[..] {
        [] => row(cpuinfo, "model name").map(str::to_owned),
        [(name, _)] => Some(name.clone()),
        several => Some(several.iter().map(|(name, count)| format!("{count} × {name}")).collect::<Vec<_>>().join(", ")),
    }
}

/// The numbers that say which edition of it this is.
pub fn numbers(cpuinfo: &str) -> Option<String> {
    let mut editions: Vec<String> = Vec::new();
    for core in cores(cpuinfo) {
        let edition = core.edition();
        if !editions.contains(&edition) {
            editions.push(edition);
        }
    }
    if editions.is_empty() {
        let get = |name| row(cpuinfo, name);
        return Some(format!("{}, {}, {}", get("cpu family")?, get("model")?, get("stepping")?));
    }
    Some(editions.join("; "))
}

/// What ARM's architecture says of a core.
#[derive(Debug, Default)]
struct Core {
    implementer: Option<u32>,
    part: Option<u32>,
    variant: Option<u32>,
    revision: Option<u32>,
}

/// The cores that are described by their numbers; none where they have a name.
fn cores(cpuinfo: &str) -> Vec<Core> {
    let mut cores: Vec<Core> = Vec::new();
    for (name, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
        let number = number(value.trim());
        match (name.trim(), cores.last_mut()) {
            // Each core's description begins with it.
            ("CPU implementer", _) => cores.push(Core { implementer: number, ..Core::default() }),
            ("CPU part", Some(core)) => core.part = number,
            ("CPU variant", Some(core)) => core.variant = number,
            ("CPU revision", Some(core)) => core.revision = number,
            _ => {}
        }
    }
    cores
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Core {
    fn name(&self) -> String {
        let (implementer, part) = (hexadecimal(self.implementer), hexadecimal(self.part));
        let Some(Designer { designer, cores }) = DESIGNERS.get(&implementer) else {
            return format!("implementer {implementer}, part {part}");
        };
        cores.get(&part).cloned().unwrap_or_else(|| format!("{designer}, part {part}"))
    }

    fn edition(&self) -> String {
        let decimal = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
        let (variant, revision) = (decimal(self.variant), decimal(self.revision));
        format!("{}, {}, r{variant}p{revision}", hexadecimal(self.implementer), hexadecimal(self.part))
    }
}

fn hexadecimal(number: Option<u32>) -> String {
    number.map_or("unknown".to_owned(), |number| format!("{number:#x}"))
}

/// Whose cores are known, by the number that stands for the designer.
static DESIGNERS: LazyLock<BTreeMap<String, Designer>> =
    LazyLock::new(|| toml::from_str(include_str!("arm-cores.toml")).expect("arm-cores.toml is well formed"));

#[derive(Deserialize)]
struct Designer {
    designer: String,
    cores: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(cores: &[(&str, &str, &str, &str)]) -> String {
        let core = |(number, (implementer, part, variant, revision)): (usize, &(&str, &str, &str, &str))| {
            format!(
                "processor\t: {number}\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: {implementer}\n\
                 CPU architecture: 8\nCPU variant\t: {variant}\nCPU part\t: {part}\nCPU revision\t: {revision}\n\n"
            )
        };
        cores.iter().enumerate().map(core).collect()
    }

    #[test]
    fn x86_has_a_name() {
        let text = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD \
                    EPYC\nstepping\t: 1\n";
        assert_eq!(name(text).as_deref(), Some("AMD EPYC"));
        assert_eq!(numbers(text).as_deref(), Some("26, 2, 1"));
        assert_eq!(row("flags\t\t:\n", "flags"), None);
    }

    #[test]
    fn a_server_of_arm_has_one_kind_of_core() {
        let graviton = arm(&[("0x41", "0xd0c", "0x3", "1"); 4]);
        assert_eq!(name(&graviton).as_deref(), Some("Neoverse-N1"));
        assert_eq!(numbers(&graviton).as_deref(), Some("0x41, 0xd0c, r3p1"));
        for (implementer, part, wanted) in [
            ("0x41", "0xd4f", "Neoverse-V2"),
            ("0xc0", "0xac3", "Ampere-1"),
            ("0x46", "0x001", "Fujitsu A64FX"),
            ("0x48", "0xd01", "HiSilicon TSV110"),
            // What nobody has heard of yet stays a number.
            ("0x41", "0xfff", "ARM, part 0xfff"),
            // As a guest on a Mac sees it.
            ("0x61", "0x000", "Apple, part 0x0"),
            ("0x99", "0x123", "implementer 0x99, part 0x123"),
            ("nonsense", "", "implementer unknown, part unknown"),
        ] {
            assert_eq!(name(&arm(&[(implementer, part, "0x0", "0")])).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn of_different_cores_each_kind_is_counted() {
        let little = ("0x41", "0xd05", "0x2", "0");
        let big = ("0x41", "0xd0b", "0x4", "0");
        let text = arm(&[little, little, little, little, big, big, big, big]);
        assert_eq!(name(&text).as_deref(), Some("4 × Cortex-A55, 4 × Cortex-A76"));
        assert_eq!(numbers(&text).as_deref(), Some("0x41, 0xd05, r2p0; 0x41, 0xd0b, r4p0"));
    }

    #[test]
    fn a_32_bit_kernel_gives_arms_cores_a_name_that_says_less() {
        let text = format!("model name\t: ARMv7 Processor rev 3 (v7l)\n{}", arm(&[("0x41", "0xd08", "0x0", "3")]));
        assert_eq!(name(&text).as_deref(), Some("Cortex-A72"));
    }

    #[test]
    fn what_is_not_said_is_not_made_up() {
        for text in ["", "processor\t: 0\nhart\t: 0\nisa\t: rv64imafdc\n", "CPU part : 0xd0c\n", ":::\n"] {
            assert_eq!((name(text), numbers(text)), (None, None), "{text}");
        }
    }
}
