//! Trees of control groups as machines and containers have them.

use std::fs;

use super::*;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(cgroup: &str, mounts: &str, files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        tree.write("proc/self/cgroup", cgroup);
        tree.write("proc/self/mountinfo", mounts);
        tree.write("sys/devices/system/cpu/online", "0-7\n");
        for (path, text) in files {
            tree.write(&format!("sys/fs/cgroup/{path}"), text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn all(&self) -> [Option<String>; 4] {
        [cpu_limit, memory_limit, process_limit, cpu_set].map(|read| read(self.0.path()))
    }

    fn says(&self, wanted: [&str; 4]) {
        assert_eq!(self.all(), wanted.map(|text| Some(text.to_owned())));
    }
}

const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
    32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
    35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
    39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
    34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

#[test]
fn a_limit_in_the_middle_of_the_second_version() {
    let tree = Tree::new(
        "0::/user.slice/arthur.slice/app.scope\n",
        V2,
        &[
            ("user.slice/cpu.max", "400000 100000\n"),
            ("user.slice/arthur.slice/cpu.max", "150000 100000\n"),
            ("user.slice/arthur.slice/app.scope/cpu.max", "max 100000\n"),
            ("user.slice/memory.max", "max\n"),
            ("user.slice/arthur.slice/app.scope/memory.max", "1073741824\n"),
            ("user.slice/pids.max", "512\n"),
            ("cpuset.cpus.effective", "0-7\n"),
            ("user.slice/cpuset.cpus.effective", "0-3\n"),
            ("user.slice/arthur.slice/cpuset.cpus.effective", "0-3\n"),
            ("user.slice/cpu.stat", "usage_usec 5\nnr_throttled 3\n"),
            ("user.slice/arthur.slice/cpu.stat", "nr_throttled 4\n"),
        ],
    );
    tree.says(["1.5 CPUs, 1 level up", "1048576 kB, its own group", "512, 2 levels up", "0-3, 2 levels up"]);
    assert_eq!(cpu_quota(tree.0.path()).as_deref(), Some("1.5 CPUs"));
    assert_eq!(throttled(tree.0.path()), Some(7));
}

#[test]
fn each_controller_of_the_first_version_has_its_own_tree() {
    let list = "9:name=systemd:/x\n4:memory:/box/inner\n8:pids:/box\n3:cpuset:/\n1:cpu,cpuacct:/box\n";
    let tree = Tree::new(
        list,
        V1,
        &[
            ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n"),
            ("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"),
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/box/memory.limit_in_bytes", "2097152\n"),
            ("memory/box/inner/memory.limit_in_bytes", "9223372036854771712\n"),
            ("pids/box/pids.max", "max\n"),
            ("cpuset/cpuset.cpus", "0-7\n"),
        ],
    );
    tree.says(["0.5 CPUs, its own group", "2048 kB, 1 level up", "none", "none"]);
}

#[test]
fn a_mixture_has_some_in_each() {
    let mounts = format!("{V1}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    let files = [("memory/memory.limit_in_bytes", "4096\n"), ("unified/app/pids.max", "9\n")];
    let tree = Tree::new("4:memory:/\n0::/app\n", &mounts, &files);
    tree.says(["none", "4 kB, its own group", "9, its own group", "none"]);
}

#[test]
fn a_container_sees_its_own_group_at_the_root() {
    // With a namespace of its own the path is short; without one, it is that of the machine
    // outside.
    let outside = V2.replace("0:28 / ", "0:28 /docker/f00 ");
    for (list, mounts) in
        [("0::/\n", V2), ("0::/docker/f00\n", outside.as_str()), ("0::/docker/f00\n", V2), ("0::/../f00\n", V2)]
    {
        let tree = Tree::new(list, mounts, &[("cpu.max", "200000 100000\n"), ("pids.max", "max\n")]);
        tree.says(["2 CPUs, its own group", "none", "none", "none"]);
    }
    // What runs deeper within it.
    let tree = Tree::new("0::/docker/f00/deep\n", &outside, &[("cpu.max", "100000 100000\n"), ("deep/x", "")]);
    assert_eq!(cpu_limit(tree.0.path()).as_deref(), Some("1 CPU, 1 level up"));
}

#[test]
fn what_cannot_be_read_is_not_called_unlimited() {
    for (list, mounts) in [("", V2), ("0::/\n", ""), ("4:cpu:/\n", V2), ("0::/\n", "gibberish\n - \n"), ("::\n", V1)] {
        assert_eq!(Tree::new(list, mounts, &[("cpu.max", "1 1\n")]).all()[0], None, "{list} {mounts}");
    }
    assert_eq!(cpu_quota(tempfile::tempdir().unwrap().path()), None);
}

#[test]
fn nonsense_is_no_limit() {
    for text in ["", "max", "5", "-5 100000", "100000 0", "NaN 1", "inf 1", "a b"] {
        let tree = Tree::new(
            "0::/\n",
            V2,
            &[("cpu.max", text), ("memory.max", "-1"), ("pids.max", "many"), ("cpuset.cpus", "x")],
        );
        tree.says(["none"; 4]);
    }
}

#[test]
fn a_folder_with_a_blank_in_its_name_is_found() {
    let mounts = V2.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/my\\040groups ");
    let tree = Tree::new("0::/a\n", &mounts, &[("my groups/a/pids.max", "7")]);
    assert_eq!(process_limit(tree.0.path()).as_deref(), Some("7, its own group"));
}
