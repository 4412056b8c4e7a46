//! One operation: one of Java's virtual threads held, created or switched to, as goroutines, tasks and threads are beside it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::Result;
use harness::Unavailable;
use memory::foreign::{Folder, Foreign};
use memory::rival;
use resources::tool::said;

/// What is asked of virtual threads.
const UNITS: &str = r#"import java.util.concurrent.*;

class Units {
    // A unit that nothing refers to would be collected.
    static final Semaphore NEVER = new Semaphore(0);

    static void hold(int more) throws Exception {
        var started = new CountDownLatch(more);
        for (int i = 0; i < more; i++) {
            Thread.startVirtualThread(() -> {
                started.countDown();
                NEVER.acquireUninterruptibly();
            });
        }
        started.await();
        System.gc();
    }

    static void create(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread.startVirtualThread(() -> {}).join();
        }
    }

    static void hop(int count) throws Exception {
        var there = new ArrayBlockingQueue<Integer>(1);
        var back = new ArrayBlockingQueue<Integer>(1);
        var other = Thread.startVirtualThread(() -> {
            try {
                while (true) back.put(there.take());
            } catch (InterruptedException ended) {
            }
        });
        for (int i = 0; i < count / 2; i++) {
            there.put(1);
            back.take();
        }
        other.interrupt();
    }
}
"#;

/// It does what a line asks for, in a virtual thread, and answers with how long that took in nanoseconds.
const MAIN: &str = r#"import java.util.*;
import java.util.concurrent.*;

class Main {
    interface Work {
        void of(int count) throws Exception;
    }

    public static void main(String[] none) throws Exception {
        var works = Map.<String, Work>of("hold", Units::hold, "create", Units::create, "hop", Units::hop);
        var lines = new Scanner(System.in);
        while (lines.hasNext()) {
            var work = works.get(lines.next());
            int count = lines.nextInt();
            var took = new FutureTask<Long>(() -> {
                long start = System.nanoTime();
                work.of(count);
                return System.nanoTime() - start;
            });
            Thread.startVirtualThread(took);
            System.out.println(took.get());
        }
    }
}
"#;

/// What Debian's packages and others install below this has a folder for each version.
const INSTALLED: &str = "/usr/lib/jvm";
const CURE: &str =
    "a JDK of version 21 or newer is not installed; on Debian 13: apt-get install openjdk-21-jdk-headless";

/// The first version that has virtual threads.
const FIRST: u32 = 21;

/// A folder with `java` and `javac`.
struct Jdk {
    bin: PathBuf,
    version: u32,
    says: String,
}

impl Jdk {
    fn in_folder(bin: PathBuf) -> Option<Self> {
        let says = said(Command::new(bin.join("javac")).arg("-version")).ok()?.trim().to_owned();
        let version = says.strip_prefix("javac ")?.split(['.', '-', '+']).next()?.parse().ok()?;
        Some(Self { bin, version, says })
    }

    /// The newest of those on the path and of those that are installed.
    fn newest() -> Result<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let installed =
            fs::read_dir(INSTALLED).into_iter().flatten().flatten().map(|version| version.path().join("bin"));
        let found = env::split_paths(&path).chain(installed).filter(|bin| bin.join("javac").is_file());
        let newest = found.filter_map(Self::in_folder).max_by_key(|jdk| jdk.version);
        newest.filter(|jdk| jdk.version >= FIRST).ok_or_else(|| Unavailable::because(CURE))
    }

    /// Compiles both into this folder, with a command that starts what comes of them.
    fn compile(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join("Units.java"), UNITS)?;
        fs::write(folder.join("Main.java"), MAIN)?;
        said(Command::new(self.bin.join("javac")).current_dir(folder).args(["-d", ".", "Units.java", "Main.java"]))?;
        let units = folder.join("units");
        fs::write(&units, format!("#!/bin/sh\nexec '{}' -cp \"${{0%/*}}\" Main\n", self.bin.join("java").display()))?;
        Ok(fs::set_permissions(&units, fs::Permissions::from_mode(0o755))?)
    }
}

fn virtual_threads() -> Result<Foreign> {
    let jdk = Jdk::newest()?;
    let folder = Folder::new()?;
    jdk.compile(&folder.0)?;
    Foreign::start(folder, format!("virtual threads are those of the JDK whose compiler says {}", jdk.says))
}

fn main() -> ExitCode {
    rival::main(harness::name!(), virtual_threads)
}
