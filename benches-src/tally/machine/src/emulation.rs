//! Whether programs run on the CPU itself, or an emulator runs them: qemu, Rosetta, a container for
//! another architecture.

use std::path::Path;

use super::cpu;

/// `no`, or what is emulated. Nothing where it cannot be told.
pub fn emulation(root: &Path, cpuinfo: &str) -> Option<String> {
    is_emulated(root, cpuinfo, std::env::consts::ARCH).map(in_words)
}

fn in_words(is_emulated: bool) -> String {
    if is_emulated { format!("{} programs, run by an emulator", std::env::consts::ARCH) } else { "no".to_owned() }
}

/// Emulators answer for the CPU, and leave most of /proc and all of /sys to the kernel beneath.
fn is_emulated(root: &Path, cpuinfo: &str, architecture: &str) -> Option<bool> {
    /// What emulators call the CPU that there is not.
    const PRETENDED: [&str; 2] = ["QEMU TCG", "VirtualApple"];
    let name = cpu::row(cpuinfo, "model name").unwrap_or_default();
    let is_pretended = PRETENDED.iter().any(|own| name.contains(own));
    let cpu = root.join("sys/devices/system/cpu/cpu0");
    // A kernel for ARM with 64 bits shows each CPU's own registers, and no other kernel does.
    let has_registers = cpu.join("regs").is_dir();
    let says = |row| cpu::row(cpuinfo, row).is_some();
    match architecture {
        "x86_64" if is_pretended || has_registers || says("CPU implementer") => Some(true),
        "x86_64" => says("vendor_id").then_some(false),
        "aarch64" if says("vendor_id") || (cpu.join("topology").is_dir() && !has_registers) => Some(true),
        "aarch64" => says("CPU implementer").then_some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const X86: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n";
    const ROSETTA: &str = "processor\t: 0\nvendor_id\t: VirtualApple\nmodel name\t: VirtualApple @ 2.50GHz processor\n";
    const TCG: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: QEMU TCG CPU version 2.5+\n";
    const ARM: &str = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x61\n";

    fn told(architecture: &str, cpuinfo: &str, folders: &[&str]) -> Option<bool> {
        let root = tempfile::tempdir().unwrap();
        let cpu = root.path().join("sys/devices/system/cpu/cpu0");
        folders.iter().for_each(|folder| fs::create_dir_all(cpu.join(folder)).unwrap());
        is_emulated(root.path(), cpuinfo, architecture)
    }

    #[test]
    fn a_program_runs_on_a_cpu_of_its_own_kind() {
        assert_eq!(told("x86_64", X86, &["topology"]), Some(false));
        assert_eq!(told("aarch64", ARM, &["topology", "regs/identification"]), Some(false));
        // Of a container that shows nothing of /sys, /proc is believed.
        assert_eq!(told("aarch64", ARM, &[]), Some(false));
    }

    #[test]
    fn on_another_kind_it_is_emulated_whatever_the_emulator_says_of_the_cpu() {
        for cpuinfo in [ARM, ROSETTA, X86] {
            assert_eq!(told("x86_64", cpuinfo, &["topology", "regs/identification"]), Some(true), "{cpuinfo}");
        }
        for cpuinfo in [ROSETTA, TCG] {
            assert_eq!(told("x86_64", cpuinfo, &[]), Some(true), "{cpuinfo}");
        }
        assert_eq!(told("aarch64", X86, &[]), Some(true));
        assert_eq!(told("aarch64", ARM, &["topology"]), Some(true));
    }

    #[test]
    fn it_is_not_denied_where_nothing_tells() {
        assert_eq!(told("x86_64", "", &["topology"]), None);
        assert_eq!(told("riscv64", X86, &["topology"]), None);
    }

    #[test]
    fn this_machine_tells() {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
        assert!(emulation(Path::new("/"), &cpuinfo).is_some());
    }
}
