//! What the kernel does against the leaks of CPUs, and what of it is paid at each entry into the
//! kernel.

use std::collections::BTreeMap;
use std::fs;

/// What the kernel says of each vulnerability that it knows, by the name of its file.
pub type States = BTreeMap<String, String>;

/// What the kernel says now.
pub fn states() -> Option<States> {
    let mut states = States::new();
    for entry in fs::read_dir("/sys/devices/system/cpu/vulnerabilities").ok()?.flatten() {
        let state = fs::read_to_string(entry.path()).ok()?;
        states.insert(entry.file_name().to_string_lossy().into_owned(), state.trim().to_owned());
    }
    Some(states)
}

/// All that the kernel calls a mitigation, in its own words.
pub fn active(states: &States) -> String {
    let active = states.iter().filter_map(|(name, state)| Some(format!("{name}: {}", state.strip_prefix(MITIGATION)?)));
    let active: Vec<String> = active.collect();
    if active.is_empty() { "none active".to_owned() } else { active.join("; ") }
}

const MITIGATION: &str = "Mitigation: ";

/// The states that such a text came from. Those that the kernel calls by another word than a
/// mitigation are not in it.
pub fn states_in(active: &str) -> States {
    let mut states = States::new();
    let mut last = None;
    for part in active.split("; ") {
        match part.split_once(": ") {
            // A state has parts of its own, such as `RSB filling` and `BHI: Not affected`; the
            // names of files have no capitals.
            Some((name, state)) if !name.is_empty() && name.chars().all(is_of_a_file) => {
                states.insert(name.to_owned(), format!("{MITIGATION}{state}"));
                last = Some(name);
            }
            _ => {
                if let Some(state) = last.and_then(|name| states.get_mut(name)) {
                    state.push_str("; ");
                    state.push_str(part);
                }
            }
        }
    }
    states
}

fn is_of_a_file(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
}

/// What an entry into the kernel pays for, in few words: how indirect branches are kept safe,
/// whether the kernel has page tables of its own (PTI), and what else is done at each entry or
/// exit, or at each return within. Only one word of the kernel stands for two ways of two makers,
/// so that the CPU's name decides between them.
pub fn on_entry(states: &States, cpu: &str) -> String {
    let mut words = vec![branches(states, cpu), page_tables(states).to_owned()];
    for (names, sign, word) in FURTHER {
        let says = |name: &&str| states.get(*name).is_some_and(|state| sign(state));
        if names.iter().any(says) && !words.iter().any(|known| known == word) {
            words.push((*word).to_owned());
        }
    }
    words.join(", ")
}

fn branches(states: &States, cpu: &str) -> String {
    let Some(state) = states.get("spectre_v2") else { return "Spectre v2: off or not affected".to_owned() };
    let way = state.split(';').next().unwrap_or_default();
    let enhanced = || match cpu {
        _ if cpu.contains("AMD") => "automatic IBRS",
        _ if cpu.contains("Intel") => "enhanced IBRS",
        _ => "enhanced or automatic IBRS",
    };
    let mut words = Vec::new();
    if way.contains("Enhanced") || way.contains("eIBRS") {
        words.push(enhanced());
    } else if way.contains("IBRS") {
        words.push("IBRS");
    }
    if way.to_lowercase().contains("retpoline") {
        words.push("retpolines");
    }
    if way.contains("LFENCE") {
        words.push("LFENCE");
    }
    match (&words[..], way.strip_prefix(MITIGATION)) {
        ([], Some(other)) => other.split(", ").next().unwrap_or_default().to_owned(),
        ([], None) if way == "Not affected" => "Spectre v2: not affected".to_owned(),
        ([], None) if way.starts_with("Vulnerable") => "Spectre v2: off".to_owned(),
        ([], None) => "Spectre v2: unknown".to_owned(),
        _ => words.join(" + "),
    }
}

fn page_tables(states: &States) -> &'static str {
    match states.get("meltdown").map(String::as_str) {
        Some("Mitigation: PTI") => "PTI",
        Some(state) if state.starts_with("Unknown") => "PTI unknown",
        _ => "no PTI",
    }
}

type Sign = fn(&str) -> bool;

/// In the files with these names, the sign of what is done, and its word. What is done without the
/// microcode that it needs is done all the same.
const FURTHER: &[(&[&str], Sign, &str)] = &[
    (
        &["mds", "tsx_async_abort", "mmio_stale_data", "reg_file_data_sampling", "tsa"],
        |state| state.starts_with("Mitigation: Clear CPU buffers") && !state.contains("buffers: VM"),
        "CPU buffers cleared",
    ),
    (
        &["mds", "tsx_async_abort", "mmio_stale_data", "reg_file_data_sampling", "tsa"],
        |state| state.contains("Clear CPU buffers attempted"),
        "clearing of CPU buffers attempted",
    ),
    (&["retbleed"], |state| state.contains("untrained return thunk"), "untrained returns"),
    (&["retbleed"], |state| state.contains("Stuffing"), "call depth counted"),
    (&["spec_rstack_overflow"], |state| state.contains(": Safe RET"), "Safe RET"),
    (
        &["retbleed", "spec_rstack_overflow"],
        |state| state.starts_with("Mitigation: IBPB") && !state.contains("VMEXIT"),
        "IBPB on entry",
    ),
    (
        &["spectre_v2"],
        |state| state.contains("BHI: SW loop") || (state.contains(", BHB") && !state.contains("not BHB")),
        "branch history cleared",
    ),
    (&["indirect_target_selection"], |state| state.contains("Aligned branch/return thunks"), "aligned thunks"),
    (&["indirect_target_selection"], |state| state.contains("Stuffing RSB"), "RSB stuffed"),
    (&["vmscape"], |state| state.contains("IBPB before exit to userspace"), "IBPB after guests"),
    (&["vmscape"], |state| state.contains("Clear BHB before exit"), "branch history cleared after guests"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn states(of: &[(&str, &str)]) -> States {
        of.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
    }

    const V2: &str =
        "Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected";

    #[test]
    fn the_way_of_indirect_branches_is_one_word() {
        for (state, cpu, word) in [
            (V2, "AMD EPYC", "retpolines"),
            ("Mitigation: Full generic retpoline, IBPB", "Intel", "retpolines"),
            (
                "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; PBRSB-eIBRS: Not affected",
                "AMD",
                "automatic IBRS",
            ),
            ("Mitigation: Enhanced / Automatic IBRS; RSB filling; BHI: BHI_DIS_S", "Intel(R) Xeon(R)", "enhanced IBRS"),
            ("Mitigation: Enhanced / Automatic IBRS + Retpolines", "Intel", "enhanced IBRS + retpolines"),
            ("Mitigation: Enhanced IBRS, IBPB: conditional", "", "enhanced or automatic IBRS"),
            ("Mitigation: IBRS; IBPB: conditional", "Intel", "IBRS"),
            ("Vulnerable: LFENCE", "AMD", "LFENCE"),
            ("Vulnerable: eIBRS with unprivileged eBPF", "Intel", "enhanced IBRS"),
            ("Vulnerable; IBPB: disabled; STIBP: disabled", "Intel", "Spectre v2: off"),
            ("Not affected", "Cortex-A55", "Spectre v2: not affected"),
            ("Mitigation: CSV2, but not BHB", "Neoverse-N1", "CSV2"),
            ("gibberish", "", "Spectre v2: unknown"),
        ] {
            assert_eq!(branches(&states(&[("spectre_v2", state)]), cpu), word, "{state}");
        }
        assert_eq!(on_entry(&States::new(), ""), "Spectre v2: off or not affected, no PTI");
    }

    #[test]
    fn what_else_an_entry_pays_for_is_added() {
        let old = states(&[
            ("spectre_v2", "Mitigation: IBRS; BHI: SW loop, KVM: SW loop"),
            ("meltdown", "Mitigation: PTI"),
            ("mds", "Mitigation: Clear CPU buffers; SMT vulnerable"),
            ("tsx_async_abort", "Mitigation: Clear CPU buffers; SMT vulnerable"),
            ("retbleed", "Mitigation: IBRS"),
            ("vmscape", "Mitigation: IBPB before exit to userspace"),
        ]);
        assert_eq!(
            on_entry(&old, "Intel"),
            "IBRS, PTI, CPU buffers cleared, branch history cleared, IBPB after guests"
        );
        for (name, state, word) in [
            (
                "retbleed",
                "Mitigation: untrained return thunk; SMT enabled with STIBP protection",
                ", untrained returns",
            ),
            ("retbleed", "Mitigation: IBPB", ", IBPB on entry"),
            ("retbleed", "Mitigation: Stuffing", ", call depth counted"),
            ("retbleed", "Vulnerable", ""),
            ("spec_rstack_overflow", "Mitigation: Safe RET", ", Safe RET"),
            ("spec_rstack_overflow", "Vulnerable: Safe RET, no microcode", ", Safe RET"),
            ("spec_rstack_overflow", "Vulnerable: Microcode, no safe RET", ""),
            ("spec_rstack_overflow", "Mitigation: IBPB on VMEXIT only", ""),
            ("tsa", "Mitigation: Clear CPU buffers: VM", ""),
            ("tsa", "Mitigation: Clear CPU buffers: user/kernel boundary", ", CPU buffers cleared"),
            (
                "mds",
                "Vulnerable: Clear CPU buffers attempted, no microcode; SMT Host state unknown",
                ", clearing of CPU buffers attempted",
            ),
            ("indirect_target_selection", "Mitigation: Aligned branch/return thunks", ", aligned thunks"),
            ("indirect_target_selection", "Mitigation: Retpolines, Stuffing RSB", ", RSB stuffed"),
            ("vmscape", "Mitigation: IBPB on VMEXIT", ""),
            ("vmscape", "Mitigation: Clear BHB before exit to userspace", ", branch history cleared after guests"),
            ("meltdown", "Not affected", ""),
        ] {
            let words = on_entry(&states(&[("spectre_v2", V2), (name, state)]), "AMD");
            assert_eq!(words, format!("retpolines, no PTI{word}"), "{name}: {state}");
        }
        let arm = states(&[("spectre_v2", "Mitigation: CSV2, BHB"), ("meltdown", "Mitigation: PTI")]);
        assert_eq!(on_entry(&arm, "Cortex-A72"), "CSV2, PTI, branch history cleared");
        let guest =
            states(&[("spectre_v2", V2), ("meltdown", "Unknown (XEN PV detected, hypervisor mitigation required)")]);
        assert_eq!(on_entry(&guest, ""), "retpolines, PTI unknown");
    }

    #[test]
    fn the_text_of_older_records_is_taken_apart_again() {
        let kept = states(&[
            ("indirect_target_selection", "Mitigation: Aligned branch/return thunks"),
            ("l1tf", "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable"),
            ("meltdown", "Mitigation: PTI"),
            ("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
            ("spectre_v2", V2),
        ]);
        assert_eq!(states_in(&active(&kept)), kept);
        let mut more = kept.clone();
        more.insert("mds".to_owned(), "Not affected".to_owned());
        assert_eq!(active(&more), active(&kept));
        assert_eq!(states_in("none active"), States::new());
        assert_eq!(states_in("; : ; x"), States::new());
        assert_eq!(active(&States::new()), "none active");
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_taken_apart(text in ".{0,80}", cpu in ".{0,8}") {
            on_entry(&states_in(&text), &cpu);
        }
    }
}
