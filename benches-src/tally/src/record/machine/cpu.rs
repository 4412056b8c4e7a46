//! What a CPU is called. ARM's have numbers, where others have a name.

/// A row of `/proc/cpuinfo`: the first CPU's.
pub fn row<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut rows = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    rows.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// The name of the CPU that is described, of different ones with how many there are: `4 × Cortex-A55, 4 × Cortex-A76`.
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
        let Some((_, maker, parts)) = MAKERS.iter().find(|(number, ..)| Some(*number) == self.implementer) else {
            return format!("implementer {implementer}, part {part}");
        };
        match parts.iter().find(|(number, _)| Some(*number) == self.part) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("{maker}, part {part}"),
        }
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

type Parts = &'static [(u32, &'static str)];

/// Who designs cores, by the number that stands for them, and their cores. The numbers are those of util-linux's `lscpu` and of the
/// kernel's `arch/arm64/include/asm/cputype.h`.
const MAKERS: &[(u32, &str, Parts)] = &[
    (0x41, "ARM", ARM),
    (0x42, "Broadcom", &[(0x516, "Broadcom ThunderX2")]),
    (0x43, "Cavium", &[(0x0a1, "Cavium ThunderX"), (0x0af, "Cavium ThunderX2")]),
    (0x46, "Fujitsu", &[(0x001, "Fujitsu A64FX"), (0x003, "Fujitsu Monaka")]),
    (0x48, "HiSilicon", &[(0xd01, "HiSilicon TSV110"), (0xd02, "HiSilicon TSV200")]),
    (0x4e, "NVIDIA", &[(0x003, "NVIDIA Denver 2"), (0x004, "NVIDIA Carmel"), (0x010, "NVIDIA Olympus")]),
    (0x50, "APM", &[(0x000, "APM X-Gene")]),
    (0x51, "Qualcomm", QUALCOMM),
    (0x61, "Apple", APPLE),
    (0x6d, "Microsoft", &[(0xd49, "Microsoft Azure Cobalt 100")]),
    (0xc0, "Ampere", &[(0xac3, "Ampere-1"), (0xac4, "Ampere-1A")]),
];

const ARM: Parts = &[
    (0xc07, "Cortex-A7"),
    (0xc08, "Cortex-A8"),
    (0xc09, "Cortex-A9"),
    (0xc0f, "Cortex-A15"),
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd0d, "Cortex-A77"),
    (0xd0e, "Cortex-A76AE"),
    (0xd40, "Neoverse-V1"),
    (0xd41, "Cortex-A78"),
    (0xd42, "Cortex-A78AE"),
    (0xd44, "Cortex-X1"),
    (0xd46, "Cortex-A510"),
    (0xd47, "Cortex-A710"),
    (0xd48, "Cortex-X2"),
    (0xd49, "Neoverse-N2"),
    (0xd4a, "Neoverse-E1"),
    (0xd4b, "Cortex-A78C"),
    (0xd4c, "Cortex-X1C"),
    (0xd4d, "Cortex-A715"),
    (0xd4e, "Cortex-X3"),
    // NVIDIA's Grace and the fourth Graviton are made of these.
    (0xd4f, "Neoverse-V2"),
    (0xd80, "Cortex-A520"),
    (0xd81, "Cortex-A720"),
    (0xd82, "Cortex-X4"),
    (0xd83, "Neoverse-V3AE"),
    (0xd84, "Neoverse-V3"),
    (0xd85, "Cortex-X925"),
    (0xd87, "Cortex-A725"),
    (0xd8e, "Neoverse-N3"),
];

const QUALCOMM: Parts = &[
    (0x001, "Qualcomm Oryon"),
    (0x800, "Qualcomm Falkor V1 or Kryo"),
    (0x801, "Qualcomm Kryo V2"),
    (0x802, "Qualcomm Kryo 3XX Gold"),
    (0x803, "Qualcomm Kryo 3XX Silver"),
    (0x804, "Qualcomm Kryo 4XX Gold"),
    (0x805, "Qualcomm Kryo 4XX Silver"),
    (0xc00, "Qualcomm Falkor"),
    (0xc01, "Qualcomm Saphira"),
];

const APPLE: Parts = &[
    (0x022, "Apple M1 Icestorm"),
    (0x023, "Apple M1 Firestorm"),
    (0x024, "Apple M1 Pro Icestorm"),
    (0x025, "Apple M1 Pro Firestorm"),
    (0x028, "Apple M1 Max Icestorm"),
    (0x029, "Apple M1 Max Firestorm"),
    (0x032, "Apple M2 Blizzard"),
    (0x033, "Apple M2 Avalanche"),
    (0x034, "Apple M2 Pro Blizzard"),
    (0x035, "Apple M2 Pro Avalanche"),
    (0x038, "Apple M2 Max Blizzard"),
    (0x039, "Apple M2 Max Avalanche"),
];

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
        let text = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nstepping\t: 1\n";
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
