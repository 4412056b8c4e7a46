//! The ledgers: everything that keeps account of this process's memory, read one after the other while nothing moves.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use harness::{Described, described};
use observation::Measure;
use resources::fields::Fields;

use crate::cgroup::{Cgroup, room_at_home_bytes};
use crate::{ballast, heap};

/// What was read at each count of units held.
pub struct Ledgers {
    cgroup: Result<Cgroup, String>,
    available_at_start: u64,
    /// Kept for as long as available memory is read.
    _ballast: Vec<Vec<u8>>,
    held: Vec<f64>,
    values: BTreeMap<&'static str, Vec<f64>>,
    /// The kernel's caches by name, where /proc/slabinfo may be read.
    caches: BTreeMap<String, Vec<f64>>,
}

/// What the ledgers say at each count of units held, and what is known of a unit without them.
pub const MEASURES: [Described; 16] = [
    described("held", "1", "how many units were held when the ledgers were read"),
    described("heap_bytes", "B", "what was asked of the allocator and not given back, counted exactly"),
    described("heap_blocks", "1", "the blocks in which that was asked for"),
    described("allocator_bytes", "B", "what the C library's allocator holds of the system's memory, used or not"),
    described("resident_bytes", "B", "pages that are in memory, those that are shared by their share (Pss)"),
    described("private_dirty_bytes", "B", "pages that were written to and are nobody else's"),
    described("huge_page_bytes", "B", "memory in huge pages (AnonHugePages)"),
    described("virtual_bytes", "B", "address space (VmSize)"),
    described("page_table_bytes", "B", "what the kernel needs to find pages (VmPTE)"),
    described("system_kernel_stack_bytes", "B", "the stacks that all threads of the system have in the kernel"),
    described("system_slab_bytes", "B", "the kernel's caches of small objects, for the whole system"),
    described("available_bytes", "B", "how far the whole system's available memory has fallen since the start"),
    described("total_bytes", "B", "all that is charged to a cgroup of the process's own; without one, available_bytes"),
    described("cgroup_kernel_bytes", "B", "the kernel's part of what is charged to that cgroup"),
    described("slab_*", "B", "objects in use in one of the kernel's caches, for the whole system"),
    described("future_bytes", "B", "the size of one unit's future, taken outside of it"),
];

const SLABINFO: &str = "/proc/slabinfo";

/// Another of the kernel's caches must have grown by more than this, and by a fiftieth of all of them, to be told.
const WORTH_TELLING_BYTES: f64 = 1e6;

/// The kernel's caches that are always told, however little they grew.
const CACHES: [&str; 6] = ["task_struct", "vm_area_struct", "anon_vma", "filp", "sock_inode_cache", "eventpoll_epi"];

impl Ledgers {
    /// Enters a cgroup of our own, if that can be, and makes room for so many readings: keeping them must not change what
    /// they read.
    pub fn open(readings: usize) -> Result<Self> {
        // What the command line says lies in it already.
        ensure!(heap::blocks() > 0, "this program's heap is not counted: its allocator should be memory::Counting");
        let cgroup = Cgroup::enter();
        let column = || Vec::with_capacity(readings);
        let slabinfo = fs::read_to_string(SLABINFO).unwrap_or_default();
        let mut ledgers = Self {
            cgroup,
            available_at_start: 0,
            _ballast: Vec::new(),
            held: column(),
            values: BTreeMap::new(),
            caches: caches(&slabinfo).into_iter().map(|(name, _)| (name.to_owned(), column())).collect(),
        };
        let names = ledgers.read()?.into_iter().map(|(name, _)| name);
        ledgers.values = names.map(|name| (name, column())).collect();
        if fs::File::open(ZONEINFO).is_err() {
            ledgers._ballast = ballast::take(available_bytes, || Ok(ledgers.room_bytes()? > 0))?;
        }
        ledgers.available_at_start = available_bytes()?;
        Ok(ledgers)
    }

    /// Reads them all, while so many units are held.
    pub fn note(&mut self, held: usize) -> Result<()> {
        for (name, value) in self.read()? {
            self.values.get_mut(name).expect("the same names every time").push(value);
        }
        for (name, bytes) in caches(&fs::read_to_string(SLABINFO).unwrap_or_default()) {
            if let Some(values) = self.caches.get_mut(name) {
                values.push(bytes as f64);
            }
        }
        self.held.push(held as f64);
        Ok(())
    }

    fn read(&self) -> Result<Vec<(&'static str, f64)>> {
        // First of all, since reading the others takes some heap for itself.
        let (heap_bytes, heap_blocks) = (heap::bytes(), heap::blocks());
        count_what_is_pending();
        let [rollup, status, system] = ["/proc/self/smaps_rollup", "/proc/self/status", MEMINFO].map(Fields::of);
        let (rollup, status, system) = (rollup?, status?, system?);
        let available = self.available_at_start as f64 - (system.bytes("MemAvailable")? + kept_by_cpus()) as f64;
        let total = self.cgroup.as_ref().ok().map(Cgroup::total_bytes).transpose();
        let kernel = self.cgroup.as_ref().ok().map(Cgroup::kernel_bytes).transpose();
        let mut values = vec![
            ("heap_bytes", heap_bytes as f64),
            ("heap_blocks", heap_blocks as f64),
            ("resident_bytes", rollup.bytes("Pss")? as f64),
            ("private_dirty_bytes", rollup.bytes("Private_Dirty")? as f64),
            ("huge_page_bytes", rollup.bytes("AnonHugePages")? as f64),
            ("virtual_bytes", status.bytes("VmSize")? as f64),
            ("page_table_bytes", status.bytes("VmPTE")? as f64),
            ("system_kernel_stack_bytes", system.bytes("KernelStack")? as f64),
            ("system_slab_bytes", system.bytes("Slab")? as f64),
            ("available_bytes", available),
            ("total_bytes", total.context(CGROUP)?.map_or(available, |bytes| bytes as f64)),
        ];
        values.extend(allocator_bytes().map(|bytes| ("allocator_bytes", bytes as f64)));
        values.extend(kernel.context(CGROUP)?.map(|bytes| ("cgroup_kernel_bytes", bytes as f64)));
        Ok(values)
    }

    /// What may still be taken before a quarter of the memory is all that is left.
    pub fn room_bytes(&self) -> Result<u64> {
        let system = Fields::of(MEMINFO)?;
        let of_system = system.bytes("MemAvailable")?.saturating_sub(system.bytes("MemTotal")? / 4);
        let of_cgroup = self.cgroup.as_ref().map_or_else(|_| room_at_home_bytes(), Cgroup::room_bytes);
        Ok(of_cgroup.map_or(of_system, |room| of_system.min(room / 4 * 3)))
    }

    /// Everything that was read, as measures.
    pub fn measures(&self) -> BTreeMap<String, Measure> {
        let measure = |name: &str, values: &Vec<f64>| {
            let described = MEASURES.iter().find(|own| own.is_of(name)).expect("every ledger is described");
            (name.to_owned(), Measure { unit: described.unit.to_owned(), values: values.clone() })
        };
        let mut measures: BTreeMap<_, _> = self.values.iter().map(|(name, values)| measure(name, values)).collect();
        measures.extend([measure("held", &self.held)]);
        let slab = grown(&self.values["system_slab_bytes"]);
        for (name, values) in &self.caches {
            let worth_telling = CACHES.contains(&name.as_str()) || grown(values) > WORTH_TELLING_BYTES.max(slab / 50.0);
            if values.len() == self.held.len() && worth_telling {
                measures.extend([measure(&format!("slab_{}_bytes", name.replace('-', "_")), values)]);
            }
        }
        measures
    }

    /// The ledgers that this machine does not let us read, and why.
    pub fn unavailable(&self) -> BTreeMap<String, String> {
        let mut missing = BTreeMap::new();
        if let Err(reason) = &self.cgroup {
            missing.insert("cgroup_kernel_bytes".to_owned(), reason.clone());
        }
        if !self.values.contains_key("allocator_bytes") {
            let reason = "this C library has no mallinfo2; glibc has it since 2.33".to_owned();
            missing.insert("allocator_bytes".to_owned(), reason);
        }
        if self.caches.is_empty() {
            let reason = "/proc/slabinfo cannot be read here (root can)".to_owned();
            missing.extend(CACHES.map(|cache| (format!("slab_{cache}_bytes"), reason.clone())));
        }
        missing
    }

    /// What there is to distrust about the total, and about what confirms it.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Err(reason) = &self.cgroup {
            doubts.push(format!(
                "total by MemAvailable: the total is how far the system's available memory fell, since {reason}"
            ));
        }
        doubts
    }
}

const MEMINFO: &str = "/proc/meminfo";
const ZONEINFO: &str = "/proc/zoneinfo";
const CGROUP: &str = "cannot read this process's own cgroup";

fn available_bytes() -> Result<u64> {
    Ok(Fields::of(MEMINFO)?.bytes("MemAvailable")? + kept_by_cpus())
}

/// Free pages that each CPU keeps for itself, which nobody counts as available. Often there are a hundred MiB of them, and a
/// process that takes those first would seem to take nothing. Only root may see them; 0 for everybody else.
fn kept_by_cpus() -> u64 {
    let text = fs::read_to_string(ZONEINFO).unwrap_or_default();
    let pages = text.lines().filter_map(|line| line.trim_start().strip_prefix("count:")?.trim().parse::<u64>().ok());
    pages.sum::<u64>() * rustix::param::page_size() as u64
}

fn grown(values: &[f64]) -> f64 {
    values.last().zip(values.first()).map_or(0.0, |(last, first)| last - first)
}

/// The kernel counts its memory per CPU, and adds that up now and then. Root may ask it to do so now.
fn count_what_is_pending() {
    let _ = fs::read("/proc/sys/vm/stat_refresh");
}

/// What the C library's allocator holds of the system's memory, used or not. The function is looked for where it runs, for an older C library lacks it.
#[cfg(target_env = "gnu")]
fn allocator_bytes() -> Option<usize> {
    type Mallinfo2 = unsafe extern "C" fn() -> libc::mallinfo2;
    // SAFETY: the name ends in a zero byte, and dlsym only looks for it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
    // SAFETY: a function of this name has this type in every glibc that has one, and None is what a null pointer becomes.
    let mallinfo2 = unsafe { std::mem::transmute::<*mut libc::c_void, Option<Mallinfo2>>(found) }?;
    // SAFETY: it takes nothing and returns a plain struct; it locks each arena while it looks at it.
    let info = unsafe { mallinfo2() };
    Some(info.arena + info.hblkhd)
}

#[cfg(not(target_env = "gnu"))]
fn allocator_bytes() -> Option<usize> {
    None
}

/// Each of the kernel's caches, with the bytes of its objects that are in use: `name objects-in-use objects size …`. A cache
/// has free objects as well, of which an earlier process may have left many.
fn caches(slabinfo: &str) -> Vec<(&str, u64)> {
    let caches = slabinfo.lines().filter_map(|line| {
        let mut fields = line.split_whitespace();
        let name = fields.next()?;
        let mut numbers = fields.map_while(|field| field.parse::<u64>().ok());
        let (in_use, _, object_bytes) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some((name, in_use * object_bytes))
    });
    caches.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_their_objects_in_use() {
        let text = "slabinfo - version: 2.1\n# name <active_objs> …\n\
            task_struct 108 110 5888 5 8 : tunables 0 0 0 : slabdata 22 22 0\n";
        assert_eq!(caches(text), [("task_struct", 108 * 5888)]);
        assert_eq!(caches(""), []);
    }
}
