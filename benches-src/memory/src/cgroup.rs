//! A memory cgroup of our own: what this process and its share of the kernel take, and nobody else's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use resources::cgroups::{Groups, Version};

/// Leftovers of runs that were killed are known by this and the number of a process that is no more.
const PREFIX: &str = "tasks-beside-threads-";

/// A child of the cgroup in which the process was started. The process is in it for as long as this lives.
#[derive(Debug)]
pub struct Cgroup {
    folder: PathBuf,
    home: PathBuf,
    version: Version,
}

fn usage_file(version: Version) -> &'static str {
    match version {
        Version::One => "memory.usage_in_bytes",
        Version::Two => "memory.current",
    }
}

impl Cgroup {
    /// Makes one, and moves this process into it. The error says why that cannot be, without naming any cgroup: their names
    /// may hold a user's or a container's.
    pub fn enter() -> Result<Self, String> {
        let (home, version) = home()?;
        let mut refused = String::new();
        for parent in parents(&home, version) {
            match Self::below(parent, &home, version) {
                Ok(cgroup) => return Ok(cgroup),
                Err(reason) => refused = reason,
            }
        }
        Err(refused)
    }

    fn below(parent: &Path, home: &Path, version: Version) -> Result<Self, String> {
        const CURE: &str = "root can, and whoever owns the cgroup";
        let refused = |error: io::Error| format!("no memory cgroup of its own could be made: {error} ({CURE})");
        remove_leftovers(parent);
        let folder = parent.join(format!("{PREFIX}{}", process::id()));
        fs::create_dir(&folder).map_err(refused)?;
        // From here on, leaving and removing is what dropping it does.
        let cgroup = Self { folder, home: home.to_owned(), version };
        if !cgroup.folder.join(usage_file(version)).is_file() {
            return Err("the memory controller is not available to a child of this process's cgroup".to_owned());
        }
        if let Err(error) = cgroup.kernel_bytes() {
            return Err(format!(
                "a memory cgroup does not say here what the kernel takes (Linux 5.18 and newer do): {error}"
            ));
        }
        move_to(&cgroup.folder).map_err(refused)?;
        Ok(cgroup)
    }

    /// Everything that is charged to it: pages of user space, and what the kernel keeps for its threads.
    pub fn total_bytes(&self) -> io::Result<u64> {
        number(&fs::read_to_string(self.folder.join(usage_file(self.version)))?)
    }

    /// The kernel's part of that.
    pub fn kernel_bytes(&self) -> io::Result<u64> {
        match self.version {
            Version::One => number(&fs::read_to_string(self.folder.join("memory.kmem.usage_in_bytes"))?),
            Version::Two => {
                let text = fs::read_to_string(self.folder.join("memory.stat"))?;
                number(text.lines().find_map(|line| line.strip_prefix("kernel ")).unwrap_or_default())
            }
        }
    }

    /// What it may still take before a limit of its own or of a cgroup above it binds; none where nothing limits it.
    pub fn room_bytes(&self) -> Option<u64> {
        room_bytes(&self.folder, self.version)
    }
}

/// The same of the cgroup in which this process was started, for one that may make none of its own.
pub fn room_at_home_bytes() -> Option<u64> {
    let (home, version) = home().ok()?;
    room_bytes(&home, version)
}

fn room_bytes(folder: &Path, version: Version) -> Option<u64> {
    let limit_file = match version {
        Version::One => "memory.limit_in_bytes",
        Version::Two => "memory.max",
    };
    let left = |folder: &Path| {
        let limit = number(&fs::read_to_string(folder.join(limit_file)).ok()?).ok()?;
        let usage = number(&fs::read_to_string(folder.join(usage_file(version))).ok()?).ok()?;
        Some(limit.saturating_sub(usage))
    };
    let groups = folder.ancestors().map_while(|folder| folder.join(limit_file).is_file().then(|| left(folder)));
    groups.flatten().min()
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Whether or not we ever got in; and threads that have just ended may be in it for a moment longer.
        let _ = move_to(&self.home);
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Where this process is, as far as memory is concerned.
fn home() -> Result<(PathBuf, Version), String> {
    let groups = Groups::of("memory", Path::new("/proc"), Path::new("/sys/fs/cgroup"))?;
    let own = groups.folders.into_iter().next().ok_or("a process is in a group")?;
    Ok((own, groups.version))
}

/// Where a child could be made. In version two a cgroup that holds processes cannot give its children a memory controller,
/// so that a sibling must do.
fn parents(home: &Path, version: Version) -> Vec<&Path> {
    match version {
        Version::One => vec![home],
        Version::Two => [Some(home), home.parent()].into_iter().flatten().collect(),
    }
}

/// Removes what runs left behind that were killed. Nothing is lost if that fails.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn move_to(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), process::id().to_string())
}

fn number(text: &str) -> io::Result<u64> {
    text.trim().parse().map_err(|_| io::Error::other(format!("{text:?} is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a cgroup to us, although no kernel stands behind it.
    fn pretended(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_child_without_a_memory_controller_is_not_kept_and_nothing_is_said_of_its_name() {
        let folder = pretended(&[("cgroup.procs", "")]);
        let error = Cgroup::below(folder.path(), folder.path(), Version::Two).unwrap_err();
        assert_eq!(error, "the memory controller is not available to a child of this process's cgroup");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let missing = folder.path().join("secret");
        let error = Cgroup::below(&missing, &missing, Version::One).unwrap_err();
        assert!(error.contains("could be made") && error.contains("root can") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not() {
        let mut ended = process::Command::new("true").spawn().unwrap();
        let dead = ended.id();
        ended.wait().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let names =
            [format!("{PREFIX}{dead}"), format!("{PREFIX}{}", process::id()), format!("{PREFIX}x"), "other".into()];
        names.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        remove_leftovers(folder.path());
        let left: Vec<bool> = names.iter().map(|name| folder.path().join(name).exists()).collect();
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn the_narrowest_limit_counts() {
        let files = [
            ("memory.max", "1000"),
            ("memory.current", "400"),
            ("a/memory.max", "max"),
            ("a/memory.current", "300"),
            ("a/b/memory.max", "900"),
            ("a/b/memory.current", "200"),
        ];
        let folder = pretended(&files);
        let cgroup = Cgroup { folder: folder.path().join("a/b"), home: folder.path().into(), version: Version::Two };
        assert_eq!(cgroup.room_bytes(), Some(600));
        std::mem::forget(cgroup);
    }
}
