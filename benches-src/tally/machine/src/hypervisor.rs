//! Whether this is a virtual machine, and whose.

use std::fs;
use std::path::Path;

use super::cpu;
use super::provider::Firmware;
use crate::files::read;

/// The hypervisor's kind, or "no". Nothing where it cannot be told: only x86's CPUs say that there
/// is none.
pub fn kind(root: &Path, cpuinfo: &str) -> Option<String> {
    let named = || read(root.join("sys/hypervisor/type")).or_else(|| by_clock(root));
    match cpu::row(cpuinfo, "flags") {
        Some(flags) if !flags.split_whitespace().any(|flag| flag == "hypervisor") => Some("no".to_owned()),
        Some(_) => Some(named().unwrap_or_else(|| UNKNOWN.to_owned())),
        None => named().or_else(|| by_device_tree(root)).or_else(|| by_firmware(root)),
    }
}

const UNKNOWN: &str = "kind unknown";

/// A guest's own clock source gives its host away.
fn by_clock(root: &Path) -> Option<String> {
    let clocks = read(root.join("sys/devices/system/clocksource/clocksource0/available_clocksource"))?;
    let known = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    known.iter().find(|(clock, _)| clocks.contains(clock)).map(|(_, name)| (*name).to_owned())
}

/// A device tree names the hypervisor, or a machine that is made for guests.
fn by_device_tree(root: &Path) -> Option<String> {
    let tree = root.join("proc/device-tree");
    let compatible = |file: &str| fs::read_to_string(tree.join(file)).ok();
    if let Some(kinds) = compatible("hypervisor/compatible") {
        let known = [("kvm", "KVM"), ("xen", "Xen"), ("vmware", "VMware"), ("microsoft", "Hyper-V")];
        let kind = known.iter().find(|(sign, _)| kinds.to_lowercase().contains(sign));
        return Some(kind.map_or(UNKNOWN, |(_, name)| name).to_owned());
    }
    compatible("compatible")?.split('\0').any(|kind| kind == "linux,dummy-virt").then(|| UNKNOWN.to_owned())
}

fn by_firmware(root: &Path) -> Option<String> {
    Firmware::read(root)?.hypervisor().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nflags\t\t: fpu vme\n";
    const GUEST: &str = "processor\t: 0\nflags\t\t: fpu hypervisor vme\n";
    const ARM: &str = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

    fn told(cpuinfo: &str, files: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        kind(root.path(), cpuinfo)
    }

    const CLOCKS: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

    #[test]
    fn x86_says_whether_there_is_one() {
        assert_eq!(told(X86, &[]).as_deref(), Some("no"));
        // Its own clocks are a guest's word, and the CPU's is heard first.
        assert_eq!(told(X86, &[(CLOCKS, "tsc hpet\n")]).as_deref(), Some("no"));
        assert_eq!(told(GUEST, &[]).as_deref(), Some("kind unknown"));
        assert_eq!(told(GUEST, &[(CLOCKS, "kvm-clock tsc\n")]).as_deref(), Some("KVM"));
        assert_eq!(told(GUEST, &[("sys/hypervisor/type", "xen\n")]).as_deref(), Some("xen"));
    }

    #[test]
    fn elsewhere_it_is_never_denied() {
        assert_eq!(told(ARM, &[]), None);
        assert_eq!(told("", &[]), None);
        assert_eq!(told(ARM, &[(CLOCKS, "arch_sys_counter\n")]), None);
        assert_eq!(told(ARM, &[("sys/class/dmi/id/sys_vendor", "Supermicro\n")]), None);
        for (path, text, kind) in [
            ("sys/hypervisor/type", "xen\n", "xen"),
            ("proc/device-tree/hypervisor/compatible", "linux,kvm\0", "KVM"),
            ("proc/device-tree/hypervisor/compatible", "xen,xen-4.17\0xen,xen\0", "Xen"),
            ("proc/device-tree/hypervisor/compatible", "another\0", "kind unknown"),
            ("proc/device-tree/compatible", "linux,dummy-virt\0", "kind unknown"),
            ("sys/class/dmi/id/sys_vendor", "Parallels International GmbH.\n", "Parallels"),
        ] {
            assert_eq!(told(ARM, &[(path, text)]).as_deref(), Some(kind), "{path}");
        }
        let lent =
            |product| [("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"), ("sys/class/dmi/id/product_name", product)];
        assert_eq!(told(ARM, &lent("c7g.large\n")).as_deref(), Some("KVM"));
        assert_eq!(told(ARM, &lent("c7g.metal\n")), None);
    }
}
