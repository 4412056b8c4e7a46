//! Known answers.

use std::fs;
use std::path::Path;

use super::list::flag_names;
use super::*;
use crate::private::without_folders;

#[test]
fn of_compiler_flags_only_names_are_kept() {
    for (flags, kept) in [
        ("", "none"),
        ("-C target-cpu=native", "-C target-cpu, without their values"),
        (
            "-Ctarget-cpu=native --remap-path-prefix=/home/arthur-dent=.",
            "-Ctarget-cpu --remap-path-prefix, without their values",
        ),
        ("-L /home/arthur-dent/lib -L/opt/lib -C linker=/opt/ld", "-L -L -C linker, without their values"),
    ] {
        assert_eq!(flag_names(flags), kept);
    }
}

#[test]
fn folders_are_named_by_a_neutral_word() {
    let text = without_folders("in /a/b/src and /a/b, not /a/bc", Path::new("/a/b"));
    assert_eq!(text, "in [checkout]/src and [checkout], not [folder]");
    for (said, kept) in [
        // What cargo built elsewhere carries that place's folders, which nothing here can know.
        (
            "panicked at /opt/x y/cargo/registry/src/index.io-1a/tokio-1.4.0/src/a.rs:10:5:",
            "panicked at [folder] y[cargo]/tokio-1.4.0/src/a.rs:10:5:",
        ),
        ("panicked at '/srv/ci/book/src/main.rs:3:1'", "panicked at '[folder]/main.rs:3:1'"),
        ("cannot open /nix/store/abc: denied", "cannot open [folder]: denied"),
        ("(/home/arthur-dent)", "([folder])"),
        ("PATH=/opt/arthur/bin:/usr/bin", "PATH=[folder]:/usr/bin"),
        // What every machine has is nobody's.
        (
            "/proc/sys/kernel/pid_max and /usr/bin/strace, /tmp, /",
            "/proc/sys/kernel/pid_max and /usr/bin/strace, /tmp, /",
        ),
        ("<b>wings</b> and /b", "<b>wings</b> and /b"),
        ("/rustc/59807616e1fa/library/std/src/io.rs:1:2", "/rustc/59807616e1fa/library/std/src/io.rs:1:2"),
        ("1/2 of usercopy/swapgs, see https://example.org/c/d", "1/2 of usercopy/swapgs, see https://example.org/c/d"),
    ] {
        assert_eq!(without_folders(said, Path::new("/a/b")), kept, "{said}");
    }
}

#[test]
fn cpu_lists_are_read() {
    assert_eq!(cpus_in_list("0-3,8"), [0, 1, 2, 3, 8]);
    assert_eq!(cpus_in_list("1"), [1]);
    assert!(cpus_in_list("").is_empty() && cpus_in_list("3-1").is_empty());
}

#[test]
fn every_fact_is_known_or_says_why_not() {
    let facts = Facts::read();
    assert_eq!(facts.known.len() + facts.unavailable.len(), FACTS.len());
    assert!(facts.known.contains_key("kernel"));
    assert_eq!(facts.differences(&facts), Vec::<&str>::new());
}

#[test]
fn data_caches_are_read_from_their_description() {
    let text = "L1 data 32K, shared by 1; L1 instruction 32K, shared by 1; L2 unified 1024K, shared by 1; L3 unified \
                32M, shared by 2";
    let facts = Facts { known: BTreeMap::from([("caches of CPU 0".to_owned(), text.to_owned())]), ..Facts::default() };
    let names: Vec<(String, f64)> = facts.data_caches();
    let wanted = [("L1", 32768.0), ("L2", 1048576.0), ("L3", 33554432.0)];
    assert_eq!(names, wanted.map(|(name, bytes)| (name.to_owned(), bytes)));
}

#[test]
fn a_list_of_cpus_that_no_machine_has_takes_no_memory() {
    assert_eq!(cpus_in_list("0-2,5"), [0, 1, 2, 5]);
    assert_eq!(cpus_in_list("0-18446744073709551615,7").len(), 8192);
}

#[test]
fn only_listed_facts_survive_and_another_cpu_is_another_machine() {
    let mut facts = Facts::read();
    facts.known.insert("host name".to_owned(), "secret".to_owned());
    let mut exported = facts.allow_listed();
    assert!(!exported.known.contains_key("host name"));
    exported.known.insert("CPU".to_owned(), "another".to_owned());
    assert_eq!(exported.differences(&facts), ["CPU"]);
}

fn known(facts: &[(&str, &str)]) -> Facts {
    let known = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Facts { known: known.collect(), unavailable: BTreeMap::new() }
}

/// What the records of the first machines have.
fn old() -> Facts {
    let v2 = "spectre_v2: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected; BHI: Retpoline";
    let text = format!(
        "indirect_target_selection: Aligned branch/return thunks; spectre_v1: usercopy/swapgs barriers and __user \
         pointer sanitization; {v2}"
    );
    let mut old = known(&[
        ("CPU", "Intel(R) Xeon(R) Processor"),
        ("CPUs allowed", "0-1"),
        ("control group, CPU limit", "-1"),
        ("control group, memory limit", "9223372036854771712"),
        ("memory", "24684084 kB"),
        ("mitigations", &text),
    ]);
    old.unavailable.insert("HZ".to_owned(), NEVER_READ.to_owned());
    old
}

#[test]
fn older_records_tell_what_an_entry_pays_for() {
    assert_eq!(old().mitigations_on_entry().as_deref(), Some("retpolines, no PTI, aligned thunks"));
    let v2 = "spectre_v2: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: disabled; PBRSB-eIBRS: Not affected; \
              BHI: Not affected";
    let amd = known(&[("CPU", "AMD EPYC"), ("mitigations", v2)]);
    assert_eq!(amd.mitigations_on_entry().as_deref(), Some("automatic IBRS, no PTI"));
    assert_eq!(Facts::default().mitigations_on_entry(), None);
    // Newer ones say it themselves.
    let mut new = old();
    new.known.insert(ON_ENTRY.to_owned(), "IBRS, PTI".to_owned());
    assert_eq!(new.mitigations_on_entry().as_deref(), Some("IBRS, PTI"));
}

#[test]
fn new_facts_make_no_old_record_another_machines() {
    let (old, mut now) = (old(), Facts::read());
    now.known.extend(old.known.clone());
    for name in ["control group, CPU limit", "control group, memory limit"] {
        now.known.insert(name.to_owned(), "none".to_owned());
    }
    now.known.insert("CPU quota".to_owned(), "1.5 CPUs".to_owned());
    assert_eq!(now.differences(&old), Vec::<&str>::new());
    let mut other = now.clone();
    other.known.insert("CPU quota".to_owned(), "none".to_owned());
    assert_eq!(now.differences(&other), ["CPU quota"]);
    // What older records have under a name stays under it, so that a machine goes on to be the
    // same.
    let parameters = Facts::read().known.get("kernel parameters").cloned().unwrap_or_default();
    assert!(!parameters.contains("sched_"), "{parameters}");
}

#[test]
fn what_nobody_looked_for_is_told_from_what_could_not_be_read() {
    let mut old = old();
    old.unavailable.insert("microcode".to_owned(), "/proc/cpuinfo does not say".to_owned());
    let listed = old.listed();
    let find = |name: &str| &listed.iter().find(|fact| fact.name == name).unwrap().known;
    assert!(matches!(find("HZ"), Known::NotLookedFor));
    assert!(matches!(find("topology"), Known::NotLookedFor));
    assert!(matches!(find("microcode"), Known::No(reason) if reason.contains("cpuinfo")));
    assert!(matches!(find(ON_ENTRY), Known::Yes(words) if words.ends_with(AS_FAR_AS_NOTED)));
    assert!(listed.is_sorted_by_key(|fact| !fact.decides), "what decides stands first");
}

#[test]
fn limits_that_matter_are_doubts() {
    let quiet = known(&[
        ("CPUs allowed", "0-7"),
        ("virtual machine", "no"),
        ("CPU quota", "none"),
        ("control group, CPU limit", "none"),
        ("control group, memory limit", "none"),
        ("memory", "24684084 kB"),
    ]);
    assert_eq!(quiet.doubts(), Vec::<String>::new());
    let with = |facts: &[(&str, &str)]| {
        let mut facts = known(facts);
        for (name, value) in &quiet.known {
            facts.known.entry(name.clone()).or_insert_with(|| value.clone());
        }
        facts.doubts().join("; ")
    };
    let quota = with(&[("CPU quota", "1.5 CPUs"), ("control group, CPU limit", "1.5 CPUs, 2 levels up")]);
    assert!(quota.starts_with("a control group (2 levels up) allows the time of 1.5 CPUs on the 8"), "{quota}");
    assert_eq!(with(&[("CPU quota", "8 CPUs")]), "");
    let memory = with(&[("control group, memory limit", "1048576 kB, its own group")]);
    assert!(memory.contains("(its own group) allows 1048576 kB"), "{memory}");
    assert_eq!(with(&[("control group, memory limit", "9223372036854771712")]), "");
    assert_eq!(with(&[("control group, memory limit", "99999999 kB, 1 level up")]), "");
    let siblings = with(&[("topology", "2 CPUs: 1 core of 1 package, 2 threads each")]);
    assert!(siblings.contains("threads of one core"), "{siblings}");
    let mut unsure = quiet.clone();
    unsure.known.remove("virtual machine");
    unsure.unavailable.insert("virtual machine".to_owned(), "nothing says".to_owned());
    assert_eq!(unsure.doubts(), ["whether this is a virtual machine cannot be told"]);
}

#[test]
fn no_fact_names_this_host_user_or_control_group() {
    let text = serde_json::to_string(&Facts::read()).unwrap();
    for name in crate::private::private_names() {
        assert!(!text.contains(&name), "{name}");
    }
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    for group in groups.lines().filter_map(|line| line.rsplit(':').next()).filter(|group| group.len() > 1) {
        assert!(!text.contains(group), "a control group's path");
    }
}
