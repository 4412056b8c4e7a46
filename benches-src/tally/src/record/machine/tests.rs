//! Known answers.

use std::path::Path;

use super::*;
use crate::record::private::without_folders;

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
    let text = "L1 data 32K, shared by 1; L1 instruction 32K, shared by 1; L2 unified 1024K, shared by 1; L3 unified 32M, shared by 2";
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
