//! What slows a machine down while it is measured: heat, a battery, memory that is swapped, a clock
//! that is dear to read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::files::read;

/// How often CPUs were slowed down for their heat since the machine was started, all together.
pub fn heat(root: &Path) -> Option<u64> {
    let cpus = entries(&root.join("sys/devices/system/cpu"));
    let count = |cpu: &PathBuf| number(cpu.join("thermal_throttle/core_throttle_count"));
    sum(cpus.iter().filter_map(count))
}

/// Whether a battery feeds the machine. Nothing where it has none; one of a mouse is not the
/// machine's.
pub fn on_battery(root: &Path) -> Option<bool> {
    let is_machines = |supply: &PathBuf| {
        let says = |file: &str, word: &str| read(supply.join(file)).is_some_and(|own| own == word);
        says("type", "Battery") && !says("scope", "Device")
    };
    let supplies = entries(&root.join("sys/class/power_supply"));
    let status = supplies.iter().filter(|supply| is_machines(supply)).filter_map(|own| read(own.join("status")));
    let status: Vec<String> = status.collect();
    (!status.is_empty()).then(|| status.iter().any(|status| status == "Discharging"))
}

/// How many pages were moved to swap and back since the machine was started.
pub fn swapped_pages(root: &Path) -> Option<u64> {
    let text = read(root.join("proc/vmstat"))?;
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    sum(["pswpin ", "pswpout "].into_iter().filter_map(of))
}

/// Where memory may be swapped to, by kinds, in the unit of `/proc/meminfo`: `2097148 kB on a
/// partition, 1048572 kB in zram`, or `none`.
pub fn swap(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("proc/swaps")).ok()?;
    let place = |line: &str| {
        let mut words = line.split_whitespace();
        let (path, kind, kib) = (words.next()?, words.next()?, words.next()?);
        let place = match kind {
            _ if path.starts_with("/dev/zram") => "in zram",
            "partition" => "on a partition",
            _ => "in a file",
        };
        Some(format!("{} kB {place}", kib.parse::<u64>().ok()?))
    };
    let places: Vec<String> = text.lines().skip(1).filter_map(place).collect();
    Some(if places.is_empty() { "none".to_owned() } else { places.join(", ") })
}

/// By how much the clock moves at least when it moves, in nanoseconds. What it says of itself may
/// be finer. Nothing where it does not move in a good part of a second.
pub fn clock_step_ns() -> Option<u64> {
    const STEPS: usize = 100;
    const MOST_READINGS: usize = 10_000_000;
    let mut before = Instant::now();
    let steps = (0..MOST_READINGS).filter_map(|_| {
        let now = Instant::now();
        let step = now.duration_since(std::mem::replace(&mut before, now)).as_nanos() as u64;
        (step > 0).then_some(step)
    });
    steps.take(STEPS).min()
}

/// What one reading of the clock takes, in nanoseconds.
pub fn clock_ns() -> u64 {
    const READINGS: u32 = 1000;
    let start = Instant::now();
    let last = (0..READINGS).fold(start, |_, _| std::hint::black_box(Instant::now()));
    last.duration_since(start).as_nanos() as u64 / u64::from(READINGS)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn number(path: PathBuf) -> Option<u64> {
    read(path)?.parse().ok()
}

/// Nothing where there is nothing to add up.
fn sum(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn heat_is_counted_over_all_cpus_that_count_it() {
        let root = machine(&[
            ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n"),
            ("sys/devices/system/cpu/cpu7/thermal_throttle/core_throttle_count", "4\n"),
            ("sys/devices/system/cpu/cpu8/online", "1\n"),
        ]);
        assert_eq!(heat(root.path()), Some(7));
        assert_eq!(heat(machine(&[]).path()), None);
    }

    #[test]
    fn a_battery_is_the_machines_own_and_feeds_it_or_does_not() {
        let fed = |status| {
            let root = machine(&[
                ("sys/class/power_supply/AC/type", "Mains\n"),
                ("sys/class/power_supply/BAT0/type", "Battery\n"),
                ("sys/class/power_supply/BAT0/status", status),
                ("sys/class/power_supply/mouse/type", "Battery\n"),
                ("sys/class/power_supply/mouse/scope", "Device\n"),
                ("sys/class/power_supply/mouse/status", "Discharging\n"),
            ]);
            on_battery(root.path())
        };
        assert_eq!(fed("Discharging\n"), Some(true));
        assert_eq!(fed("Full\n"), Some(false));
        assert_eq!(on_battery(machine(&[("sys/class/power_supply/AC/type", "Mains\n")]).path()), None);
    }

    #[test]
    fn swap_is_told_by_kinds_and_without_paths() {
        let swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
            /dev/nvme0n1p3                          partition\t2097148\t\t0\t\t-2\n\
            /home/arthur-dent/swap                  file\t\t1048572\t\t0\t\t-3\n\
            /dev/zram0                              partition\t8100000\t\t12\t\t100\n";
        let root = machine(&[("proc/swaps", swaps), ("proc/vmstat", "pgfault 5\npswpin 2\npswpout 40\n")]);
        let wanted = "2097148 kB on a partition, 1048572 kB in a file, 8100000 kB in zram";
        assert_eq!(swap(root.path()).as_deref(), Some(wanted));
        assert_eq!(swapped_pages(root.path()), Some(42));
        let none = machine(&[("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"), ("proc/vmstat", "pgfault 5\n")]);
        assert_eq!((swap(none.path()).as_deref(), swapped_pages(none.path())), (Some("none"), None));
        assert_eq!(swap(machine(&[]).path()), None);
    }

    #[test]
    fn a_reading_of_the_clock_takes_less_than_a_millisecond() {
        assert!(clock_ns() < 1_000_000);
    }

    #[test]
    fn a_clock_moves_by_less_than_a_tenth_of_a_second() {
        assert!((1..100_000_000).contains(&clock_step_ns().unwrap()));
    }
}
