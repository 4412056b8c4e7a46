//! Machines that are made up: what is read of them, and which ceilings follow.

use std::fs;
use std::path::Path;

use limits::{CEILINGS, Limit, Machine, Needs, Roots, ceilings, nearest};
use tempfile::TempDir;

const GIB: u64 = 1 << 30;

/// A folder with these files, as `proc/…` and `cgroup/…`.
fn machine(files: &[(&str, &str)]) -> (TempDir, Roots) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let roots = Roots { proc: folder.path().join("proc"), cgroup: folder.path().join("cgroup") };
    (folder, roots)
}

const PLAIN: [(&str, &str); 14] = [
    ("proc/sys/kernel/pid_max", "32768\n"),
    ("proc/sys/kernel/threads-max", "192730\n"),
    ("proc/sys/vm/max_map_count", "65530\n"),
    ("proc/sys/vm/overcommit_memory", "0\n"),
    ("proc/sys/fs/nr_open", "1048576\n"),
    ("proc/sys/fs/file-max", "2466170\n"),
    ("proc/sys/fs/file-nr", "1024\t0\t2466170\n"),
    ("proc/sys/fs/epoll/max_user_watches", "5491511\n"),
    ("proc/loadavg", "0.08 0.19 0.09 1/82 32455\n"),
    ("proc/1/stat", ""),
    ("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n"),
    ("proc/self/uid_map", "         0          0 4294967295\n"),
    (
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units\n\
         Max stack size            8388608              unlimited            bytes\n\
         Max processes             96365                96365                processes\n\
         Max open files            1024                 20000                files\n",
    ),
    ("proc/meminfo", "MemTotal:       25165824 kB\nMemFree: 1 kB\nMemAvailable:   18874368 kB\n"),
];

/// The plain machine with groups of its own.
fn with_groups(files: &[(&str, &str)]) -> (TempDir, Roots) {
    machine(&[&PLAIN[..], files].concat())
}

fn by(machine: &Machine, needs: &Needs, limit: &str) -> Limit {
    ceilings(machine, needs).into_iter().find(|ceiling| ceiling.limit == limit).unwrap().units
}

#[test]
fn a_plain_machine_is_read_whole() {
    let (_folder, roots) = with_groups(&[("proc/self/cgroup", "0::/\n"), ("cgroup/cgroup.procs", "")]);
    let read = Machine::read(&roots);
    assert_eq!(read.pid_max, Limit::Of(32768));
    assert_eq!((read.nofile_soft.clone(), read.nofile_hard.clone()), (Limit::Of(1024), Limit::Of(20000)));
    assert_eq!(read.stack, Limit::Of(8 << 20));
    assert_eq!((read.tasks, read.ids_reserved), (82, 299));
    assert_eq!(read.memory_to_use(), Limit::Of(12 * GIB));
    assert_eq!(by(&read, &Needs::THREAD, "max_map_count"), Limit::Of((65530 - 60) / 4));
    assert_eq!(by(&read, &Needs::PTHREAD, "pid_max"), Limit::Of(32768 - 82 - 299));
    assert_eq!(by(&read, &Needs::THREAD, "threads_max"), Limit::Of(192730 - 82));
    assert_eq!(by(&read, &Needs::THREAD, "nproc"), Limit::Of(96365 - 82));
    assert_eq!(by(&read, &Needs::THREAD_BRIGADE, "nofile"), Limit::Of((20000 - 24) / 2));
    assert_eq!(by(&read, &Needs::TASK, "nofile"), Limit::Unlimited);
    assert_eq!(by(&read, &Needs::THREAD, "pids_max"), Limit::Unlimited, "the root sets no limit");
    assert_eq!(nearest(&ceilings(&read, &Needs::THREAD)), Some(("max_map_count", 16367)));
    assert_eq!(nearest(&ceilings(&read, &Needs::TASK)).unwrap().0, "memory");
}

#[test]
fn every_ancestor_counts_in_the_second_version() {
    let (_folder, roots) = with_groups(&[
        ("proc/self/cgroup", "0::/user.slice/user-1000.slice/some/shell.scope\n"),
        ("cgroup/user.slice/user-1000.slice/some/shell.scope/pids.max", "max\n"),
        ("cgroup/user.slice/user-1000.slice/some/pids.max", "10813\n"),
        ("cgroup/user.slice/user-1000.slice/some/pids.current", "13\n"),
        ("cgroup/user.slice/user-1000.slice/pids.max", "84184\n"),
        ("cgroup/user.slice/pids.max", "max\n"),
        ("cgroup/user.slice/memory.max", "8589934592\n"),
        ("cgroup/user.slice/memory.current", "1073741824\n"),
    ]);
    let read = Machine::read(&roots);
    let groups = read.pids.as_ref().unwrap();
    assert_eq!(groups.iter().map(|group| group.level).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let tightest = Machine::tightest(groups).unwrap();
    assert_eq!((tightest.level, tightest.max.clone()), (1, Limit::Of(10813)));
    assert_eq!(nearest(&ceilings(&read, &Needs::THREAD)), Some(("pids_max", 10800)));
    assert_eq!(read.memory_to_use(), Limit::Of(5 * GIB), "a group's quarter is kept free as well");
    for (name, limit) in read.plain_limits() {
        let said = format!("{name} {limit:?}");
        assert!(!said.contains("slice") && !said.contains("1000"), "{said}");
    }
}

#[test]
fn each_controller_has_a_tree_of_its_own_in_the_first_version() {
    let (_folder, roots) = with_groups(&[
        ("proc/self/cgroup", "8:pids:/a/b\n4:memory:/m\n2:cpu,cpuacct:/\n0::/\n"),
        ("cgroup/pids/a/b/pids.max", "max\n"),
        ("cgroup/pids/a/pids.max", "500\n"),
        ("cgroup/pids/a/pids.current", "100\n"),
        ("cgroup/memory/m/memory.limit_in_bytes", "4294967296\n"),
        ("cgroup/memory/m/memory.usage_in_bytes", "1073741824\n"),
        ("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("cgroup/unified/cgroup.procs", ""),
    ]);
    let read = Machine::read(&roots);
    assert_eq!(by(&read, &Needs::THREAD, "pids_max"), Limit::Of(400));
    assert_eq!(read.pids_version, 1);
    assert_eq!(read.memory_to_use(), Limit::Of(2 * GIB));
    assert_eq!(read.memory.unwrap()[1].max, Limit::Unlimited, "all that a number can say is no limit");
}

#[test]
fn a_container_shows_its_own_group_as_the_root() {
    for line in ["0::/\n", "0::/../../outside\n", "0::/docker/0123456789abcdef\n"] {
        let (_folder, roots) =
            with_groups(&[("proc/self/cgroup", line), ("cgroup/pids.max", "100\n"), ("cgroup/pids.current", "7\n")]);
        assert_eq!(by(&Machine::read(&roots), &Needs::PTHREAD, "pids_max"), Limit::Of(93), "{line}");
    }
    let (_folder, roots) = with_groups(&[
        ("proc/self/cgroup", "5:pids:/docker/0123456789abcdef\n"),
        ("cgroup/pids/pids.max", "100\n"),
        ("cgroup/pids/pids.current", "7\n"),
    ]);
    assert_eq!(by(&Machine::read(&roots), &Needs::PTHREAD, "pids_max"), Limit::Of(93));
}

#[test]
fn what_cannot_be_read_is_unknown_with_the_reason() {
    let (_folder, roots) = machine(&[]);
    let read = Machine::read(&roots);
    for (name, limit) in read.plain_limits().into_iter().chain(read.limits_in_bytes()) {
        match limit {
            Limit::Unknown(reason) => assert!(reason.contains("cannot be read: entity not found"), "{name}: {reason}"),
            other => assert!(["nproc_exempt", "pids_version", "tasks"].contains(&name), "{name} {other:?}"),
        }
    }
    assert_eq!(nearest(&ceilings(&read, &Needs::THREAD)), None);
    let (_folder, roots) = machine(&[
        ("proc/self/cgroup", "nonsense\n"),
        ("proc/self/limits", "nothing\n"),
        ("proc/sys/kernel/pid_max", "many\n"),
        ("proc/meminfo", "nothing\n"),
    ]);
    let read = Machine::read(&roots);
    assert_eq!(read.pid_max, Limit::Unknown("/proc/sys/kernel/pid_max holds no number".to_owned()));
    assert_eq!(read.nproc_soft, Limit::Unknown("/proc/self/limits does not say Max processes".to_owned()));
    assert_eq!(read.memory_total, Limit::Unknown("/proc/meminfo does not say MemTotal:".to_owned()));
    assert_eq!(read.pids.unwrap_err(), "/proc/self/cgroup names no group for pids");
}

#[test]
fn root_is_above_the_limit_of_processes_and_root_of_a_container_is_not() {
    let exempt = |status: &str, map: &str| {
        let (_folder, roots) = machine(&[("proc/self/status", status), ("proc/self/uid_map", map)]);
        Machine::read(&roots).nproc_exempt
    };
    let whole = "0 0 4294967295\n";
    assert!(exempt("Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\n", whole));
    assert!(exempt("Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000200000\n", whole));
    assert!(!exempt("Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n", whole));
    assert!(!exempt("Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n", "0 100000 65536\n"));
}

#[test]
fn with_strict_overcommit_the_stacks_address_space_counts() {
    let strict =
        "MemTotal: 25165824 kB\nMemAvailable: 18874368 kB\nCommitLimit: 12582912 kB\nCommitted_AS: 4194304 kB\n";
    let files: Vec<_> = PLAIN.iter().copied().filter(|(path, _)| !path.ends_with("meminfo")).collect();
    let (folder, roots) = machine(&[&files[..], &[("proc/meminfo", strict)]].concat());
    assert_eq!(by(&Machine::read(&roots), &Needs::THREAD, "overcommit"), Limit::Unlimited);
    fs::write(folder.path().join("proc/sys/vm/overcommit_memory"), "2\n").unwrap();
    assert_eq!(by(&Machine::read(&roots), &Needs::THREAD, "overcommit"), Limit::Of(8 * GIB / (2 << 20)));
    assert!(Path::new(&roots.proc).exists());
}

#[test]
fn every_limit_and_every_ceiling_is_described_though_it_be_none_here() {
    let (_folder, roots) = machine(&PLAIN);
    let machine = Machine::read(&roots);
    let counts = machine.plain_limits().into_iter().map(|(name, _)| (name, "1"));
    let sizes = machine.limits_in_bytes().into_iter().map(|(name, _)| (name, "B"));
    let described: Vec<_> = Machine::MEASURES.iter().map(|own| (own.name, own.unit)).collect();
    assert_eq!(counts.chain(sizes).collect::<Vec<_>>(), described);
    for needs in Needs::ALL {
        let names =
            ceilings(&machine, &needs).into_iter().map(|ceiling| format!("{}_by_{}", needs.name, ceiling.limit));
        for name in names.chain([format!("{}_ceiling", needs.name)]) {
            assert_eq!(CEILINGS.iter().filter(|own| own.is_of(&name)).count(), 1, "{name}");
        }
    }
}
