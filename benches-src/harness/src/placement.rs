//! Where a program's threads may run, decided before any of them exists.

use std::fs;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use clap::ValueEnum;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Unavailable;

/// Where a program's threads may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Placement {
    /// All threads on the first CPU that this process may use.
    OneCpu,
    /// Participant `i` on CPU `i` mod 2 of the first two of different cores that this process may use; a runtime's workers pinned likewise.
    TwoCpus,
    /// Wherever the kernel likes, among the CPUs that this process may use.
    #[default]
    Free,
}

impl Placement {
    /// The name on the command line and in records.
    pub fn name(self) -> String {
        let value = self.to_possible_value().expect("no variant is skipped");
        value.get_name().to_owned()
    }

    /// Restricts the calling thread, and so every thread it will start, to this placement.
    pub(crate) fn apply(self) -> Result<()> {
        let needed = match self {
            Placement::Free => return Ok(()),
            Placement::OneCpu => 1,
            Placement::TwoCpus => 2,
        };
        let mut allowed = allowed_cpus()?;
        if allowed.len() < needed {
            return Err(Unavailable::because(format!(
                "placement {} needs {needed} CPUs, and this process may use {}",
                self.name(),
                allowed.len()
            )));
        }
        if let Some(other) = allowed.iter().position(|cpu| core(*cpu) != core(allowed[0])) {
            allowed.swap(1, other);
        }
        pin_to(&allowed[..needed])?;
        PLACES.get_or_init(|| allowed[..needed].to_vec());
        Ok(())
    }

    /// Pins the calling thread to the place of one participant. To be called by each participant of a program whose
    /// threads are the participants, and by each worker of a runtime; only `two-cpus` tells them apart.
    pub fn pin_participant(self, index: usize) -> Result<()> {
        match self {
            Placement::Free | Placement::OneCpu => Ok(()),
            Placement::TwoCpus => {
                let places = PLACES.get().context("the placement was not applied to the process")?;
                pin_to(&[places[index % places.len()]])
            }
        }
    }
}

/// The CPUs of the placement. Kept, because a thread inherits the place of the one that starts it, and could not find the
/// other CPU from there.
static PLACES: OnceLock<Vec<usize>> = OnceLock::new();

/// The CPUs of a core, which take from each other whatever they do, as the kernel lists them; kernels before 5.3 know the list by its older name.
fn core(cpu: usize) -> Option<String> {
    let list = |name| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}")).ok();
    list("core_cpus_list").or_else(|| list("thread_siblings_list"))
}

fn allowed_cpus() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

fn pin_to(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}
