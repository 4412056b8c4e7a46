//! Who makes or lends the machine, and which type of theirs it is. What the firmware says is free
//! text, in which somebody's name may stand: only what is known to be a maker's own goes into a
//! record, and the rest is "other".

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::files::read;

/// What the firmware says of the machine.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    vendor: String,
    product: String,
}

impl Firmware {
    /// By `/sys/class/dmi/id`, or by the device tree where the firmware gives that instead.
    pub fn read(root: &Path) -> Option<Self> {
        let id = |name: &str| read(root.join("sys/class/dmi/id").join(name));
        if let Some(vendor) = id("sys_vendor") {
            return Some(Self { vendor, product: id("product_name").unwrap_or_default() });
        }
        // There the maker's name begins the model's.
        let model = read(root.join("proc/device-tree/model"))?.trim_end_matches('\0').to_owned();
        Some(Self { vendor: model.clone(), product: model })
    }

    /// Maker and type, as far as both are known ones.
    pub fn name(&self) -> String {
        match self.known() {
            None => "other".to_owned(),
            Some(known) if !known.has(&self.product) => known.name.clone(),
            Some(known) if self.product.starts_with(&known.name) => self.product.clone(),
            Some(known) => format!("{}, {}", known.name, self.product),
        }
    }

    /// What runs this as a guest, where only guests are called so.
    pub fn hypervisor(&self) -> Option<&'static str> {
        let known = self.known()?;
        let is_guest = known.product.is_none() || known.has(&self.product);
        // Whole machines are lent as well.
        known.hypervisor.as_deref().filter(|_| is_guest && !self.product.contains("metal"))
    }

    fn known(&self) -> Option<&'static Maker> {
        MAKERS.iter().find(|maker| is_all_of(&maker.vendor, &self.vendor))
    }
}

/// A maker whose machines are known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Maker {
    vendor: String,
    name: String,
    /// Products whose names are the maker's own.
    product: Option<String>,
    /// Under which all of them run.
    hypervisor: Option<String>,
}

impl Maker {
    fn has(&self, product: &str) -> bool {
        self.product.as_ref().is_some_and(|known| is_all_of(known, product))
    }
}

fn is_all_of(pattern: &str, text: &str) -> bool {
    Regex::new(&format!("^(?:{pattern})$")).expect("makers.toml has patterns").is_match(text)
}

static MAKERS: LazyLock<Vec<Maker>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Makers {
        maker: Vec<Maker>,
    }
    toml::from_str::<Makers>(include_str!("makers.toml")).expect("makers.toml is well formed").maker
});

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn named(vendor: &str, product: &str) -> String {
        Firmware { vendor: vendor.to_owned(), product: product.to_owned() }.name()
    }

    #[test]
    fn known_makers_and_types_are_named() {
        for (vendor, product, name) in [
            ("Amazon EC2", "c7g.2xlarge", "Amazon EC2, c7g.2xlarge"),
            ("Amazon EC2", "u-6tb1.metal", "Amazon EC2"),
            ("Amazon EC2", "m6id.metal", "Amazon EC2, m6id.metal"),
            ("Google", "Google Compute Engine", "Google Compute Engine"),
            ("Microsoft Corporation", "Virtual Machine", "Microsoft, Virtual Machine"),
            ("QEMU", "Standard PC (Q35 + ICH9, 2009)", "QEMU, Standard PC (Q35 + ICH9, 2009)"),
            ("Xen", "HVM domU", "Xen, HVM domU"),
            ("innotek GmbH", "VirtualBox", "VirtualBox"),
            ("VMware, Inc.", "VMware7,1", "VMware7,1"),
            ("Dell Inc.", "PowerEdge R740xd", "Dell, PowerEdge R740xd"),
            ("HPE", "ProLiant DL380 Gen10 Plus", "HP, ProLiant DL380 Gen10 Plus"),
            ("LENOVO", "20XWCTO1WW", "Lenovo"),
            ("Raspberry Pi Foundation", "Raspberry Pi 4 Model B", "Raspberry Pi 4 Model B"),
        ] {
            assert_eq!(named(vendor, product), name);
        }
    }

    #[test]
    fn what_somebody_may_have_named_is_not_kept() {
        for (vendor, product, name) in [
            ("Arthur Dent", "Arthur's box", "other"),
            ("", "", "other"),
            ("QEMU", "arthurs-box", "QEMU"),
            ("Amazon EC2", "arthur-dent.large box", "Amazon EC2"),
            ("Dell Inc.", "PowerEdge R740 of Arthur", "Dell"),
            ("Dell Inc. (Arthur)", "PowerEdge R740", "other"),
            ("Supermicro", "Arthur-Server", "Supermicro"),
            ("Raspberry Pi Foundation", "Raspberry Pi 4 of Arthur", "Raspberry Pi"),
            ("linux,dummy-virt", "linux,dummy-virt", "other"),
        ] {
            assert_eq!(named(vendor, product), name, "{vendor}, {product}");
        }
    }

    #[test]
    fn only_guests_have_a_hypervisor() {
        let of = |vendor: &str, product: &str| {
            Firmware { vendor: vendor.to_owned(), product: product.to_owned() }.hypervisor()
        };
        assert_eq!(of("Amazon EC2", "c7g.large"), Some("KVM"));
        assert_eq!(of("Amazon EC2", "c7g.metal"), None);
        assert_eq!(of("Xen", "HVM domU"), Some("Xen"));
        assert_eq!(of("Dell Inc.", "PowerEdge R740"), None);
        assert_eq!(of("Arthur", "Virtual Machine"), None);
        // The same makers sell machines to hold in one's hands.
        assert_eq!(of("Google", "Eve"), None);
        assert_eq!(of("Microsoft Corporation", "Surface Pro X"), None);
    }

    #[test]
    fn it_is_read_from_either_kind_of_firmware() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Firmware::read(root.path()), None);
        fs::create_dir_all(root.path().join("proc/device-tree")).unwrap();
        fs::write(root.path().join("proc/device-tree/model"), "Raspberry Pi 5 Model B Rev 1.0\0").unwrap();
        assert_eq!(Firmware::read(root.path()).unwrap().name(), "Raspberry Pi 5 Model B Rev 1.0");
        fs::create_dir_all(root.path().join("sys/class/dmi/id")).unwrap();
        fs::write(root.path().join("sys/class/dmi/id/sys_vendor"), "Hetzner\n").unwrap();
        assert_eq!(Firmware::read(root.path()).unwrap().name(), "Hetzner");
        fs::write(root.path().join("sys/class/dmi/id/product_name"), "vServer\n").unwrap();
        assert_eq!(Firmware::read(root.path()).unwrap().name(), "Hetzner, vServer");
    }
}
