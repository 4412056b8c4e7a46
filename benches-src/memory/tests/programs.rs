//! Every program of the chapter is run as a reader would run it, and its ledgers are checked against what is known.

#[path = "../../harness/tests/support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use observation::Observation;
use support::{each_program_does_what_it_says, observe, seen, skipped};

const THREADS: [&str; 2] = [env!("CARGO_BIN_EXE_hold-thread"), env!("CARGO_BIN_EXE_hold-pthread")];
const TASKS: [&str; 4] = [
    env!("CARGO_BIN_EXE_hold-tokio"),
    env!("CARGO_BIN_EXE_hold-smol"),
    env!("CARGO_BIN_EXE_hold-executor"),
    env!("CARGO_BIN_EXE_hold-future"),
];
const BRIGADES: [&str; 2] = [env!("CARGO_BIN_EXE_hold-thread-brigade"), env!("CARGO_BIN_EXE_hold-tokio-brigade")];
const SLEEPERS: [&str; 3] = [
    env!("CARGO_BIN_EXE_hold-thread-asleep"),
    env!("CARGO_BIN_EXE_hold-tokio-asleep"),
    env!("CARGO_BIN_EXE_hold-tokio-joined"),
];
const COROUTINE: &str = env!("CARGO_BIN_EXE_hold-coroutine");

/// What each of them must say, wherever it runs.
const LEDGERS: [&str; 12] = [
    "heap_bytes",
    "heap_blocks",
    "allocator_bytes",
    "resident_bytes",
    "private_dirty_bytes",
    "huge_page_bytes",
    "virtual_bytes",
    "page_table_bytes",
    "system_kernel_stack_bytes",
    "system_slab_bytes",
    "available_bytes",
    "total_bytes",
];

/// As little as is asked of rivals.
const RIVALLED: [&str; 6] = ["--most", "80", "--creations", "100", "--hops", "100"];

/// Tests that look at what is left of a cgroup must not run beside those that make one.
static CGROUPS: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    CGROUPS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What a shell does before it becomes the program.
fn observe_after(preparation: &str, program: &str, flags: &str) -> Observation {
    let command = format!("{preparation}; exec {program} {flags} --json");
    seen(Command::new("sh").args(["-c", &command]).output().unwrap())
}

/// What a unit adds to a ledger, from the first count to the last.
fn per_unit(seen: &Observation, ledger: &str) -> f64 {
    let grown = |name: &str| {
        let values = &seen.measures[name].values;
        values.last().unwrap() - values.first().unwrap()
    };
    grown(ledger) / grown("held")
}

fn is_root() -> bool {
    fs::read("/proc/slabinfo").is_ok()
}

fn has_cgroup(seen: &Observation) -> bool {
    seen.measures.contains_key("cgroup_kernel_bytes")
}

#[test]
fn each_program_does_its_work_once_and_says_what_it_has() {
    let _alone = alone();
    // As many as the others, so that the whole of it is a matter of a second; the sizes of futures are no number of anything.
    each_program_does_what_it_says(|program| {
        Some(match program {
            "future-sizes" => &[],
            rival if rival.starts_with("rival-") => &RIVALLED,
            _ => &["--most", "80"],
        })
    });
}

#[test]
fn every_ledger_is_read_at_eight_evenly_spaced_counts() {
    let _alone = alone();
    for program in THREADS.iter().chain(&TASKS).chain(&BRIGADES).chain(&SLEEPERS).chain([&COROUTINE]) {
        let seen = observe(&[program], &["--most", "80"]);
        let held: Vec<f64> = (1..=8).map(|step| f64::from(10 * step)).collect();
        assert_eq!((seen.measures["held"].values.as_slice(), seen.measures["held"].unit.as_str()), (&held[..], "1"));
        for ledger in LEDGERS {
            assert_eq!(seen.measures[ledger].values.len(), 8, "{program} {ledger}");
            assert_eq!(seen.measures[ledger].unit, if ledger == "heap_blocks" { "1" } else { "B" });
        }
        for cache in ["task_struct", "vm_area_struct", "anon_vma", "filp", "sock_inode_cache", "eventpoll_epi"] {
            let name = format!("slab_{cache}_bytes");
            let missing = seen.unavailable.get(&name).is_some_and(|reason| reason.contains("/proc/slabinfo"));
            assert_ne!(seen.measures.contains_key(&name), missing, "{program} {name}");
        }
        assert!(seen.samples.is_empty(), "what links the counting allocator is not timed");
    }
}

#[test]
fn a_future_is_as_large_as_it_says_and_a_task_adds_what_is_explained() {
    let _alone = alone();
    for touch in [0, 1024] {
        let flags = ["--most", "800", "--touch-bytes", &touch.to_string()];
        let [tokio, smol, executor, future] = TASKS.map(|program| {
            let seen = observe(&[program], &flags);
            assert_eq!(seen.measures["future_bytes"].values, [f64::from(touch + 1)], "a byte says where it is");
            per_unit(&seen, "heap_bytes")
        });
        let size = f64::from(touch + 1);
        assert!((0.0..0.2).contains(&(future - size)), "nothing but the box of each step: {future}");
        assert!(executor - size <= 64.0, "our executor adds {} bytes", executor - size);
        assert_eq!(tokio, f64::from(tokio_cell(touch + 1)));
        assert!(smol > size && smol < size + 128.0, "smol adds {} bytes", smol - size);
    }
}

/// As the page explains it: thirteen words, and a future that takes whole words and at least three, in units of 128 bytes.
fn tokio_cell(future_bytes: u32) -> u32 {
    const WORD: u32 = 8;
    (13 * WORD + future_bytes.next_multiple_of(WORD).max(3 * WORD)).next_multiple_of(128)
}

#[test]
fn a_thread_has_a_stack_in_the_kernel_and_the_address_space_it_asked_for() {
    let _alone = alone();
    for program in THREADS {
        let seen = observe(&[program], &["--most", "800", "--stack-bytes", "1048576"]);
        let virtual_bytes = per_unit(&seen, "virtual_bytes");
        assert!((1048576.0..1.5 * 1048576.0).contains(&virtual_bytes), "{program}: {virtual_bytes}");
        assert!(per_unit(&seen, "resident_bytes") < 65536.0, "what is not touched is not resident");
        assert!(per_unit(&seen, "system_kernel_stack_bytes") > 4096.0, "{program}");
    }
}

#[test]
fn a_task_of_a_brigade_has_its_cell_and_two_entries_of_256_bytes_for_its_sockets() {
    let _alone = alone();
    let seen = observe(&[BRIGADES[1]], &["--most", "800"]);
    let future_bytes = seen.measures["future_bytes"].values[0] as u32;
    assert_eq!(per_unit(&seen, "heap_bytes").round(), f64::from(tokio_cell(future_bytes) + 2 * 256));
    assert_eq!(per_unit(&seen, "heap_blocks").round(), 3.0);
}

#[test]
fn a_task_that_sleeps_has_its_timer_in_its_cell_and_a_joined_sleep_is_a_box_and_a_pointer() {
    const POINTER: f64 = 8.0;
    let _alone = alone();
    let [asleep, joined] = [SLEEPERS[1], SLEEPERS[2]].map(|program| observe(&[program], &["--most", "8000"]));
    let future_bytes = |seen: &Observation| seen.measures["future_bytes"].values[0];
    assert!(future_bytes(&asleep) > future_bytes(&joined), "a future that sleeps contains the sleep");
    assert_eq!(per_unit(&asleep, "heap_bytes"), f64::from(tokio_cell(future_bytes(&asleep) as u32)));
    assert_eq!(per_unit(&asleep, "heap_blocks"), 1.0);
    // A task and a vector for each of the eight steps come on top.
    let more = per_unit(&joined, "heap_bytes") - (future_bytes(&joined) + POINTER);
    assert!((0.0..1.0).contains(&more), "{more} bytes beside the sleep and the pointer to it");
    assert!((1.0..1.01).contains(&per_unit(&joined, "heap_blocks")));
    for seen in [asleep, joined] {
        assert!(per_unit(&seen, "system_kernel_stack_bytes") < 100.0, "no timer starts a thread");
    }
}

#[test]
fn a_thread_that_sleeps_has_what_a_thread_has_that_waits() {
    let _alone = alone();
    let [asleep, waiting] = [SLEEPERS[0], THREADS[0]].map(|program| observe(&[program], &["--most", "800"]));
    for ledger in ["virtual_bytes", "resident_bytes", "page_table_bytes"] {
        let ratio = per_unit(&asleep, ledger) / per_unit(&waiting, ledger);
        assert!((0.9..1.1).contains(&ratio), "{ledger}: {ratio}");
    }
    assert!(per_unit(&asleep, "system_kernel_stack_bytes") > 4096.0);
}

#[test]
fn what_is_touched_is_resident() {
    let _alone = alone();
    for program in [THREADS[0], TASKS[0], TASKS[2], TASKS[3]] {
        let resident =
            |touch: &str| per_unit(&observe(&[program], &["--most", "400", "--touch-bytes", touch]), "resident_bytes");
        let more = resident("65536") - resident("0");
        assert!((0.9 * 65536.0..1.2 * 65536.0).contains(&more), "{program}: {more}");
    }
}

#[test]
fn user_space_and_kernel_make_the_total_of_the_cgroup() {
    let _alone = alone();
    for program in [THREADS[0], SLEEPERS[0]] {
        let seen = observe(&[program], &["--most", "2000"]);
        if has_cgroup(&seen) {
            let parts = per_unit(&seen, "resident_bytes") + per_unit(&seen, "cgroup_kernel_bytes");
            let whole = per_unit(&seen, "total_bytes");
            assert!((parts / whole - 1.0).abs() < 0.1, "{program}: {parts} of {whole}");
            assert!(per_unit(&seen, "cgroup_kernel_bytes") > 16384.0, "the kernel's side is charged too");
        }
    }
}

#[test]
fn pmap_sees_the_same() {
    let _alone = alone();
    let seen = observe(&[env!("CARGO_BIN_EXE_tool-pmap")], &["--most", "800"]);
    if let Some(reason) = seen.unavailable.get("elapsed") {
        assert_eq!(reason, "pmap is not installed; on Debian: apt-get install procps");
        return skipped("pmap is not installed");
    }
    for ledger in ["resident_bytes", "virtual_bytes"] {
        let ratio = per_unit(&seen, &format!("pmap_{ledger}")) / per_unit(&seen, ledger);
        assert!((0.98..=1.02).contains(&ratio), "{ledger}: {ratio}");
    }
}

#[test]
fn sizes_of_futures_are_those_of_their_buffers_and_a_little_more() {
    let seen = observe(&[env!("CARGO_BIN_EXE_future-sizes")], &[]);
    let size = |name: &str| seen.measures[&format!("{name}_bytes")].values[0];
    assert_eq!(size("empty"), 1.0);
    assert!(size("read_1_kib") > 1024.0 && size("read_1_kib") < 1024.0 + 256.0);
    assert!(size("read_16_kib") > 16384.0 && size("boxed") < 64.0);
    assert!(size("timeout") > size("read_1_kib"));
    assert!(seen.measures.values().all(|measure| measure.unit == "B"));
}

#[test]
fn rivals_are_asked_alike_and_a_language_that_is_not_there_is_named() {
    let _alone = alone();
    let foreign = [env!("CARGO_BIN_EXE_rival-goroutine"), env!("CARGO_BIN_EXE_rival-virtual-thread")];
    let kib = |least, most| 1024.0 * least..1024.0 * most;
    for (program, most, each_bytes) in [
        (env!("CARGO_BIN_EXE_rival-thread"), "800", kib(4.0, 32.0)),
        (env!("CARGO_BIN_EXE_rival-tokio"), "80000", kib(0.1, 1.0)),
        (foreign[0], "80000", kib(2.0, 8.0)),
        (foreign[1], "80000", kib(0.25, 8.0)),
    ] {
        let seen = observe(&[program], &["--most", most, "--creations", "2000", "--hops", "2000"]);
        if let Some(reason) = seen.unavailable.get("elapsed") {
            assert!(foreign.contains(&program) && reason.contains(" is not installed; "), "{program}: {reason}");
            skipped(reason);
            continue;
        }
        assert_eq!(seen.measures["held"].values.len(), 8, "{program}");
        let resident = per_unit(&seen, "resident_bytes");
        assert!(each_bytes.contains(&resident), "{program}: {resident} B resident");
        if !seen.unavailable.contains_key("total_bytes") {
            let (total, kernel) = (per_unit(&seen, "total_bytes"), per_unit(&seen, "kernel_bytes"));
            assert!(
                total > kernel && total < resident + kernel + 4096.0,
                "{program}: {total} B, {kernel} of the kernel"
            );
        }
        for each in ["created_ns", "hop_ns"] {
            let ns = seen.measures[each].values[0];
            assert!((5.0..1e6).contains(&ns), "{program}: {each} {ns}");
        }
    }
}

#[test]
fn without_a_cgroup_available_memory_stands_in_and_that_is_said() {
    let _alone = alone();
    let (_folder, program) = for_nobody();
    let mut command = Command::new(&program);
    command.args(["--most", "80", "--json"]);
    let seen = seen(if is_root() { as_nobody(&mut command) } else { &mut command }.output().unwrap());
    if has_cgroup(&seen) {
        return skipped("this user owns a cgroup");
    }
    assert!(seen.doubts.iter().any(|doubt| doubt.starts_with("total by MemAvailable: ")), "{:?}", seen.doubts);
    assert_eq!(seen.measures["total_bytes"].values, seen.measures["available_bytes"].values);
    assert!(seen.unavailable.contains_key("cgroup_kernel_bytes"));
    let list = fs::read_to_string("/proc/self/cgroup").unwrap();
    for path in list.lines().filter_map(|line| line.rsplit(':').next()).filter(|path| path.len() > 1) {
        assert!(!format!("{seen:?}").contains(path), "the name of a cgroup is nobody's business");
    }
}

#[test]
fn under_pressure_a_climb_stops_and_tells_what_it_has() {
    let _alone = alone();
    let Some(limited) = Limited::to(48 << 20) else { return };
    let enter = format!("echo $$ > {}/cgroup.procs", limited.0.display());
    let seen = observe_after(&enter, THREADS[0], "--most 4000");
    let held = &seen.measures["held"].values;
    assert!((1..8).contains(&held.len()), "{held:?}");
    assert!(LEDGERS.iter().all(|ledger| seen.measures[*ledger].values.len() == held.len()));
    let doubt = seen.doubts.iter().find(|doubt| doubt.starts_with("fewer units: ")).unwrap();
    assert!(doubt.contains("a quarter of the memory is to stay free"), "{doubt}");
}

#[test]
fn a_limited_container_in_which_no_cgroup_can_be_made_stops_a_climb_as_well() {
    let _alone = alone();
    let Some(limited) = Limited::to(64 << 20) else { return };
    let (_folder, program) = for_nobody();
    let enter = format!("echo $$ > {}/cgroup.procs", limited.0.display());
    let as_nobody = "exec setpriv --reuid 65534 --regid 65534 --clear-groups";
    let command = format!("{enter}; cd /; {as_nobody} {} --most 8000 --json", program.display());
    let seen = seen(Command::new("sh").args(["-c", &command]).output().unwrap());
    assert!(seen.unavailable.contains_key("cgroup_kernel_bytes"), "{seen:?}");
    assert!(seen.doubts.iter().any(|doubt| doubt.starts_with("fewer units: ")), "{:?}", seen.doubts);
}

#[test]
fn a_stack_that_the_c_library_refuses_is_an_error() {
    let output = Command::new(THREADS[1]).args(["--stack-bytes", "1000", "--json"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Invalid argument"), "{output:?}");
}

#[test]
fn what_never_fits_is_not_begun() {
    let most = ["--most", "10000000", "--touch-bytes", "65536"];
    let reason = &observe(&[TASKS[0]], &most).unavailable["elapsed"];
    assert_eq!(reason, "a quarter of the memory is to stay free");
}

#[test]
fn a_thread_that_is_refused_ends_the_climb_and_nothing_is_lost() {
    let _alone = alone();
    // Address space for some of the stacks, each of 2 MiB; how many depends on what the C library takes for its heaps.
    let mut limited = Command::new("prlimit");
    limited.arg("--as=1500000000:").arg(THREADS[0]).args(["--most", "800", "--json"]);
    let seen = seen(limited.output().unwrap());
    let held = &seen.measures["held"].values;
    assert!((1..8).contains(&held.len()) && held[0] == 100.0, "{held:?}");
    let told = format!("fewer units: {} were held instead of 800", held.last().unwrap());
    assert!(seen.doubts.iter().any(|doubt| doubt.starts_with(&told)), "{:?}", seen.doubts);
}

#[test]
fn more_threads_than_a_user_may_have_are_not_begun() {
    let _alone = alone();
    if !is_root() {
        return skipped("only root can be a user that has the program's file and no threads");
    }
    let (_folder, program) = for_nobody();
    let mut limited = Command::new("prlimit");
    limited.arg("--nproc=300:").arg(&program).args(["--most", "800", "--json"]);
    let seen = seen(as_nobody(&mut limited).output().unwrap());
    let reason = &seen.unavailable["elapsed"];
    assert!(reason.starts_with("it needs 800 threads, and the limit of processes (ulimit -u) allows for "), "{reason}");
}

#[test]
fn a_killed_run_leaves_no_cgroup_that_the_next_does_not_remove() {
    let _alone = alone();
    if !has_cgroup(&observe(&[THREADS[0]], &["--most", "8"])) {
        return skipped("this user owns no cgroup");
    }
    let run = |command: &str| {
        let program = Command::new(THREADS[0]).args(["--most", "80", "--quiet", "--command", command]).spawn();
        let mut program = program.unwrap();
        (program.id(), program.wait().unwrap().success())
    };
    let (ended, well) = run("true");
    assert!(well && !has_left_a_cgroup(ended), "a run removes its own");
    let (killed, well) = run("kill -9 {pid}");
    assert!(!well && has_left_a_cgroup(killed), "nobody was left to remove it");
    // The shell that killed it is in the same cgroup, and may live a moment longer.
    let removed = (0..20).any(|_| {
        run("true");
        !has_left_a_cgroup(killed)
    });
    assert!(removed);
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    for (program, flags, reason) in [
        (THREADS[0], ["--stack-bytes", "65536", "--touch-bytes", "65536"], "has no room to touch 65536 B"),
        (THREADS[0], ["--most", "1000000", "--touch-bytes", "0"], "it needs 1000000 threads"),
        (COROUTINE, ["--most", "10000000", "--touch-bytes", "0"], "mappings"),
        (BRIGADES[1], ["--most", "1000000", "--placement", "free"], "file descriptors"),
    ] {
        let seen = observe(&[program], &flags);
        assert!(seen.unavailable["elapsed"].contains(reason), "{program}: {:?}", seen.unavailable);
    }
    let output = Command::new(TASKS[0]).args(["--touch-bytes", "5"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("one of [0, 1024, 4096, 16384, 65536]"), "{output:?}");
}

#[test]
fn nobody_else_links_the_counting_allocator() {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for entry in fs::read_dir(benches).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let Ok(text) = fs::read_to_string(&manifest) else { continue };
        assert!(!text.contains("\"../memory\""), "{} links it", manifest.display());
    }
}

/// A copy of a program where anybody may run it, for as long as the folder lives.
fn for_nobody() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("hold-thread");
    fs::copy(THREADS[0], &program).unwrap();
    (folder, program)
}

fn as_nobody(command: &mut Command) -> &mut Command {
    const NOBODY: u32 = 65534;
    command.uid(NOBODY).gid(NOBODY).current_dir("/")
}

/// A cgroup with a limit, made as the programs make theirs; none where that cannot be done.
struct Limited(PathBuf);

impl Limited {
    fn to(bytes: u64) -> Option<Self> {
        let list = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = list.lines().find_map(|line| line.split_once(":memory:")).map(|(_, path)| path.to_owned())?;
        let folder = Path::new("/sys/fs/cgroup/memory").join(path.trim_start_matches('/'));
        let limited = Self(folder.join(format!("limited-{}", std::process::id())));
        fs::create_dir(&limited.0).ok()?;
        fs::write(limited.0.join("memory.limit_in_bytes"), bytes.to_string()).ok()?;
        Some(limited)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Whether a process that is no more has left a cgroup of ours, wherever that is.
fn has_left_a_cgroup(process: u32) -> bool {
    let name = format!("tasks-beside-threads-{process}");
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        let below = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        folders.extend(below.filter(|path| path.is_dir() && !path.is_symlink()));
        if folders.iter().any(|folder| folder.ends_with(&name)) {
            return true;
        }
    }
    false
}
