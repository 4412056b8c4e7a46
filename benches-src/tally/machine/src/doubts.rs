//! What about a machine calls for care.

use super::{Facts, topology};
use crate::processors::cpus_in_list;

/// Clock sources that are devices, or that only the kernel can read.
const DEAR_CLOCKS: [&str; 6] = ["hpet", "acpi_pm", "pit", "xen", "jiffies", "refined-jiffies"];

impl Facts {
    /// What about the machine itself calls for care.
    pub fn doubts(&self) -> Vec<String> {
        let get = |name: &str| self.known.get(name).map(String::as_str);
        let mut doubts = Vec::new();
        if get("virtual machine").is_some_and(|kind| kind != "no") {
            doubts.push("a virtual machine: its host's scheduler and neighbours are in every number".to_owned());
        }
        if self.unavailable.contains_key("virtual machine") {
            doubts.push("whether this is a virtual machine cannot be told".to_owned());
        }
        if get("CPUs allowed").is_some_and(|list| cpus_in_list(list).len() < 4) {
            doubts
                .push("fewer than four CPUs: programs that are free to use all of them have little freedom".to_owned());
        }
        if get("topology").is_some_and(topology::all_share_a_core) {
            doubts.push("all CPUs are threads of one core: what runs on two CPUs shares its units".to_owned());
        }
        if get("haltpoll, ns") == Some("0") || get("idle driver") == Some("haltpoll") {
            doubts.push("an idle CPU halts to the hypervisor, so waking one costs an interrupt through it".to_owned());
        }
        if get("emulation").is_some_and(|what| what != "no") {
            doubts.push("an emulator runs these programs: their times are its own, and no CPU's".to_owned());
        }
        if let Some(clock) = get("clock source").filter(|clock| DEAR_CLOCKS.contains(clock)) {
            doubts.push(format!("the clock source is {clock}, which takes a microsecond or so to read"));
        }
        if get("platform profile").is_some_and(|profile| profile != "performance") {
            doubts.push("the platform's profile may hold the clock frequency down".to_owned());
        }
        if get("frequency governor").is_some_and(|governor| governor != "performance") {
            doubts.push("the clock frequency follows the load".to_owned());
        }
        doubts.extend(self.quota());
        doubts.extend(self.little_memory());
        doubts
    }

    /// A quota is a doubt where it is smaller than the CPUs that may be used.
    fn quota(&self) -> Option<String> {
        let allowed = cpus_in_list(self.known.get("CPUs allowed")?).len();
        let quota = first_number(self.known.get("CPU quota")?)?;
        // Where it stands is said by the same words in the record of the limit.
        let height = self.known.get("control group, CPU limit").and_then(|limit| Some(limit.split_once(", ")?.1));
        let place = height.map_or(String::new(), |height| format!(" ({height})"));
        (quota < allowed as f64).then(|| {
            format!(
                "a control group{place} allows the time of {quota} CPUs on the {allowed} that may be used: once that \
                 is used up, every thread stands still"
            )
        })
    }

    fn little_memory(&self) -> Option<String> {
        let limit = self.known.get("control group, memory limit")?;
        // Older records have a number of bytes, and none from groups that are not the root.
        let (kibibytes, place) = limit.split_once(" kB, ")?;
        let all = first_number(self.known.get("memory")?)?;
        (kibibytes.parse::<f64>().ok()? < all)
            .then(|| format!("a control group ({place}) allows {kibibytes} kB of the machine's memory of {all} kB"))
    }
}

fn first_number(text: &str) -> Option<f64> {
    text.split(' ').next()?.parse().ok()
}
