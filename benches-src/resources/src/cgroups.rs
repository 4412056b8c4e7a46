//! Where the control groups of this process lie that limit and count something for it.

use std::fs;
use std::path::{Path, PathBuf};

/// Which of the kernel's two interfaces to control groups has a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Each controller has a tree of its own, or shares it with some.
    One,
    /// All of them have one tree.
    Two,
}

/// The groups that this process is in for one controller.
#[derive(Debug, PartialEq, Eq)]
pub struct Groups {
    /// Which of them has the controller.
    pub version: Version,
    /// From its own up to the root of what is mounted; there is at least one.
    pub folders: Vec<PathBuf>,
}

impl Groups {
    /// Those for a controller such as `pids`, by `/proc` and `/sys/fs/cgroup` or what stands for them. The error says why there are
    /// none, without naming any group: their names may hold a user's or a container's.
    pub fn of(controller: &str, proc: &Path, mounted: &Path) -> Result<Self, String> {
        let list = fs::read_to_string(proc.join("self/cgroup"))
            .map_err(|error| format!("/proc/self/cgroup cannot be read: {}", error.kind()))?;
        let lines: Vec<_> = list.lines().filter_map(|line| line.split_once(':')?.1.split_once(':')).collect();
        let of_first = lines.iter().find(|(names, _)| names.split(',').any(|name| name == controller));
        let (version, mount, path) = match of_first {
            Some((names, path)) => (Version::One, first_dir(mounted.join(names), mounted.join(controller)), *path),
            None => {
                let of_second = lines.iter().find(|(names, _)| names.is_empty());
                let (_, path) =
                    of_second.ok_or_else(|| format!("/proc/self/cgroup names no group for {controller}"))?;
                (Version::Two, first_dir(mounted.join("unified"), mounted.to_owned()), *path)
            }
        };
        if !mount.is_dir() {
            return Err(format!("no control groups are mounted for {controller}"));
        }
        // In a container, the path may be that of the machine outside while what is mounted is the container's own group.
        let own = mount.join(path.trim_start_matches('/'));
        let own = if own.is_dir() && !path.contains("..") { own } else { mount.clone() };
        let folders = own.ancestors().take_while(|folder| folder.starts_with(&mount)).map(Path::to_owned).collect();
        Ok(Self { version, folders })
    }
}

fn first_dir(either: PathBuf, or: PathBuf) -> PathBuf {
    if either.is_dir() { either } else { or }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(list: &str, folders: &[&str]) -> (tempfile::TempDir, Result<Groups, String>) {
        let root = tempfile::tempdir().unwrap();
        for folder in folders.iter().copied().chain(["proc/self", "cgroup"]) {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("proc/self/cgroup"), list).unwrap();
        let groups = Groups::of("memory", &root.path().join("proc"), &root.path().join("cgroup"));
        (root, groups)
    }

    fn found(list: &str, folders: &[&str]) -> (Version, Vec<String>) {
        let (root, groups) = groups(list, folders);
        let groups = groups.unwrap();
        let below = |folder: &PathBuf| folder.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned();
        (groups.version, groups.folders.iter().map(below).collect())
    }

    #[test]
    fn a_controller_is_found_in_both_versions_and_in_a_mixture() {
        let both = "9:name=systemd:/x\n4:cpu,memory:/a\n0::/z\n";
        let one = (Version::One, vec!["cgroup/memory/a".to_owned(), "cgroup/memory".to_owned()]);
        assert_eq!(found(both, &["cgroup/memory/a"]), one);
        let together = (Version::One, vec!["cgroup/cpu,memory".to_owned()]);
        assert_eq!(found("4:cpu,memory:/\n", &["cgroup/cpu,memory"]), together);
        let two = (Version::Two, vec!["cgroup/user".to_owned(), "cgroup".to_owned()]);
        assert_eq!(found("0::/user\n", &["cgroup/user"]), two);
        let mixed = (Version::Two, vec!["cgroup/unified".to_owned()]);
        assert_eq!(found("1:cpu:/\n0::/\n", &["cgroup/unified"]), mixed);
    }

    #[test]
    fn a_path_from_outside_a_container_is_its_own_group() {
        let own = (Version::Two, vec!["cgroup".to_owned()]);
        assert_eq!(found("0::/of/the/host\n", &[]), own);
        assert_eq!(found("0::/../sibling\n", &["cgroup/sibling", "sibling"]), own);
    }

    #[test]
    fn why_there_is_none_is_said() {
        let why = |list| groups(list, &[]).1.unwrap_err();
        assert_eq!(why("1:cpu:/\n"), "/proc/self/cgroup names no group for memory");
        assert_eq!(why("1:memory:/\n"), "no control groups are mounted for memory");
    }
}
