//! Builds the programs, and links them again with their functions in other orders.
//!
//! Where a program's code lies decides how it falls into the processor's caches and predictors. The
//! linker chooses that once for all rounds, so that what it costs would be in every round and in no
//! interval. A program is compiled once for all orders: lld keeps all that one link needs, and from
//! that it links again in a fraction of a second.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tar::Archive;
use tempfile::TempDir;

use super::child::{own_executable, tied};
use super::counted;
use crate::book::experiment::Experiment;
use crate::project::Project;
use crate::record::beneath::workspace;
use crate::record::checksum::hash_file;
use crate::say;

/// The program files that an experiment runs, each with its hash: those of its cells, and those
/// that they start. What ran is known by these, whatever became of the sources.
pub fn built<'a>(folder: &Path, programs: impl IntoIterator<Item = &'a String>) -> Result<BTreeMap<String, String>> {
    // What is not there cannot be started, which is said then.
    let files = programs.into_iter().map(|name| (name, folder.join(name))).filter(|(_, file)| file.is_file());
    files.map(|(name, file)| Ok((name.clone(), hash_file(&file)?))).collect()
}

/// Builds these programs, and links to what they are now from a folder of their own; where that is.
/// Who builds beside a session has cargo put another file in a program's place, and what is
/// measured must not change with it.
pub fn build_to_measure(project: &Project, programs: &BTreeSet<String>) -> Result<PathBuf> {
    let (programs, measured) = (build(project, programs.iter())?, project.measured());
    let link = || -> std::io::Result<()> {
        if measured.exists() {
            fs::remove_dir_all(&measured)?;
        }
        fs::create_dir_all(&measured)?;
        for entry in fs::read_dir(&programs)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
                let to = measured.join(entry.file_name());
                // Some file systems have no such links.
                fs::hard_link(entry.path(), &to).or_else(|_| fs::copy(entry.path(), &to).map(drop))?;
            }
        }
        Ok(())
    };
    link()
        .with_context(|| format!("cannot link to the programs from {}{}", measured.display(), full_disk(&measured)))?;
    Ok(measured)
}

/// Builds these programs as they are; where they lie.
fn build<S: AsRef<OsStr>>(project: &Project, programs: impl Iterator<Item = S>) -> Result<PathBuf> {
    let mut cargo = cargo(project)?;
    for program in programs {
        cargo.arg("--bin").arg(program);
    }
    cargo.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = cargo.output().context(NO_CARGO)?;
    ensure!(
        output.status.success(),
        "the programs cannot be built; see cargo's message above{}",
        full_disk(&project.target())
    );
    let programs = project.programs();
    let built = executables(&output.stdout);
    ensure!(
        programs.is_dir() || !built.is_empty(),
        "cargo built no programs, or somewhere else than {}",
        programs.display()
    );
    // Where a user's configuration sets a target, cargo builds elsewhere, and what lies here may be
    // of any age.
    for program in built.iter().filter(|program| program.parent() != Some(&programs)) {
        let beside = programs.join(program.file_name().context("cargo has built a program without a name")?);
        let copy = || -> std::io::Result<()> {
            fs::create_dir_all(&programs)?;
            if beside.exists() {
                fs::remove_file(&beside)?;
            }
            fs::copy(program, &beside).map(drop)
        };
        copy().with_context(|| format!("cannot copy {} to {}", program.display(), beside.display()))?;
    }
    Ok(programs)
}

/// The programs that cargo's messages say it has built, or found as they are to be.
fn executables(messages: &[u8]) -> Vec<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }
    let lines = messages.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<Message>(line).ok()?.executable).collect()
}

/// What is said of a disk without room: a linker that writes into mapped memory is ended by a
/// signal there, without a word.
pub fn full_disk(folder: &Path) -> String {
    /// Less than the programs and what they are linked of take.
    const TOO_LITTLE_BYTES: u64 = 64 << 20;
    // What is not there yet will lie on the disk of what is around it.
    let disk = folder.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok());
    match disk.map(|disk| (disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_files > 0 && disk.f_favail == 0)) {
        Some((free, _)) if free < TOO_LITTLE_BYTES => {
            format!(
                ". The disk of {} is full: it has {} MiB left. Make room, and run again",
                folder.display(),
                free >> 20
            )
        }
        Some((_, true)) => {
            format!(". The disk of {} has room for no more files. Make room, and run again", folder.display())
        }
        _ => String::new(),
    }
}

const NO_CARGO: &str = "cannot start cargo; is Rust installed? See README.md";

/// Of the whole workspace, whichever programs are built, so that their dependencies have the same
/// features each time.
fn cargo(project: &Project) -> Result<Command> {
    ensure!(counted::find("cargo").is_some(), NO_CARGO);
    let mut cargo = tied(&own_executable(), "cargo");
    cargo.args(["build", "--release", "--locked", "--workspace", "--manifest-path"]);
    cargo.arg(project.benches().join("Cargo.toml")).arg("--target-dir").arg(project.target());
    cargo.current_dir(project.root());
    for (name, _) in env::vars_os() {
        if is_kept_from_cargo(&name.to_string_lossy()) {
            cargo.env_remove(name);
        }
    }
    // What configuration files of the user say of flags and profiles is overruled, since no hash of
    // the sources knows of it.
    let flags: Vec<String> = env::var("RUSTFLAGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    for (key, value) in profile(project)? {
        cargo.arg("--config").arg(format!("profile.release.{key}={value}"));
    }
    Ok(cargo)
}

/// What the workspace says of how programs are compiled, and what cargo says where that is silent.
fn profile(project: &Project) -> Result<toml::Table> {
    const USUAL: &str = "opt-level = 3\ndebug-assertions = false\noverflow-checks = false\nlto = false\npanic = \
                         \"unwind\"\n\
                         incremental = false\ncodegen-units = 16\n";
    let mut profile: toml::Table = toml::from_str(USUAL)?;
    let workspace = workspace(project)?;
    let own = workspace.get("profile").and_then(|all| all.get("release")).and_then(toml::Value::as_table);
    profile.extend(own.cloned().unwrap_or_default());
    Ok(profile)
}

/// Whether a variable of the environment must not reach cargo.
fn is_kept_from_cargo(name: &str) -> bool {
    // This program's own package, when cargo runs it. Some build scripts ask to be run again where
    // these differ, and then a build from here and one from a shell would each make the other
    // compile anew.
    let of_package = ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|prefix| name.starts_with(prefix));
    // What makes cargo build elsewhere or otherwise, of which no hash of the sources knows: old
    // programs would be measured under new hashes, or other programs under the usual ones.
    let elsewhere =
        ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"].contains(&name);
    let otherwise =
        name.starts_with("CARGO_PROFILE_RELEASE_") || (name.starts_with("CARGO_") && name.ends_with("RUSTFLAGS"));
    of_package || elsewhere || otherwise
}

/// An experiment's programs, each linked with its functions in many orders. They are kept from one
/// session to the next.
pub struct LinkOrders<'a> {
    project: &'a Project,
    /// Each program with the hash of what it is as usually linked: what was linked of another is
    /// not used.
    programs: BTreeMap<&'a str, String>,
}

impl<'a> LinkOrders<'a> {
    /// Of the programs that are measured, which lie in this folder.
    pub fn of(project: &'a Project, measured: &Path, experiment: &'a Experiment) -> Result<Self> {
        let with_hash = |program: &'a str| Ok((program, hash_file(&measured.join(program))?));
        let programs = experiment.programs().into_iter().map(with_hash).collect::<Result<_>>()?;
        Ok(Self { project, programs })
    }

    /// Where a program lies that is linked in this order.
    pub fn program(&self, program: &str, order: u32) -> PathBuf {
        self.folder(program).join(format!("{}-{order}", self.programs[program]))
    }

    fn folder(&self, program: &str) -> PathBuf {
        self.project.link_orders().join(program)
    }

    /// Links the programs in these orders, as far as they are not there yet; whether this linker
    /// can do so.
    pub fn link(&self, orders: Range<u32>) -> Result<bool> {
        self.forget_what_is_old()?;
        let lacking = |program: &&'a str| {
            let lacks = |order: &u32| !self.program(program, *order).is_file();
            (*program, orders.clone().filter(lacks).collect::<Vec<_>>())
        };
        let lacking: Vec<_> = self.programs.keys().map(lacking).filter(|(_, orders)| !orders.is_empty()).collect();
        if lacking.is_empty() {
            return Ok(true);
        }
        say!("tally: linking {} programs in other orders, some five seconds for each", lacking.len());
        let mut can = true;
        for (program, orders) in lacking {
            can = self.link_in(&orders, program)?;
            if !can {
                break;
            }
        }
        build(self.project, self.programs.keys())?;
        self.forget_what_was_changed_meanwhile()?;
        Ok(can)
    }

    fn forget_what_was_changed_meanwhile(&self) -> Result<()> {
        for (program, hash) in &self.programs {
            if hash_file(&self.project.programs().join(program))? != *hash {
                fs::remove_dir_all(self.folder(program))?;
                bail!(
                    "{program} was changed while it was linked in other orders; run again to measure it as it is now"
                );
            }
        }
        Ok(())
    }

    fn link_in(&self, orders: &[u32], program: &str) -> Result<bool> {
        let Some(inputs) = Inputs::of(self.project, program)? else { return Ok(false) };
        // Many are kept, and nobody looks into them: they need no symbols.
        let strip = "--strip-all";
        let Some(usual) = inputs.link(&[strip], &inputs.trial())? else { return Ok(false) };
        for order in orders {
            let to = self.program(program, *order);
            let beside = to.with_extension("new");
            let shuffle = format!("--shuffle-sections=.text*={order}");
            let Some(linked) = inputs.link(&[strip, &shuffle], &beside)? else { return Ok(false) };
            ensure!(linked != usual, "{program} is the same in order {order} as without");
            fs::rename(&beside, &to).with_context(|| format!("cannot rename {}", beside.display()))?;
        }
        Ok(true)
    }

    /// Makes the folders, and removes from them what was linked of programs as they were before.
    fn forget_what_is_old(&self) -> Result<()> {
        forget_trials(&self.project.link_orders())?;
        for (program, hash) in &self.programs {
            let folder = self.folder(program);
            let list = || -> std::io::Result<()> {
                fs::create_dir_all(&folder)?;
                for entry in fs::read_dir(&folder)? {
                    let entry = entry?;
                    if !entry.file_name().to_string_lossy().starts_with(hash.as_str()) {
                        fs::remove_file(entry.path())?;
                    }
                }
                Ok(())
            };
            list().with_context(|| format!("in {}", folder.display()))?;
        }
        Ok(())
    }
}

/// How the folders begin in which programs are linked to be compared.
const TRIAL: &str = "trial-";

/// Removes those that were left by a process that was killed.
fn forget_trials(folder: &Path) -> Result<()> {
    let remove = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TRIAL) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    };
    remove().with_context(|| format!("in {}", folder.display()))
}

/// All that a program is linked of, and the linker.
struct Inputs {
    linker: PathBuf,
    folder: TempDir,
}

impl Inputs {
    /// Those of a program that is built already. None, after saying why, where they cannot be had,
    /// or where what is linked of them is not the usual program, whose code is the one to be
    /// measured.
    fn of(project: &Project, program: &str) -> Result<Option<Self>> {
        let linker = linker(project)?;
        if !linker.is_file() {
            say!("tally: Rust's toolchain has no linker at {}", linker.display());
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix(TRIAL).tempdir_in(project.link_orders());
        let folder = folder.context("cannot make a folder for what is linked")?;
        if !collect(project, program, folder.path())? {
            say!("tally: cargo links {program} with another linker than lld");
            return Ok(None);
        }
        let inputs = Self { linker, folder };
        let usual = project.programs().join(program);
        if inputs.link(&[], &inputs.trial())? != Some(hash_file(&usual)?) {
            say!("tally: {} cannot link {} as it is", inputs.linker.display(), usual.display());
            return Ok(None);
        }
        Ok(Some(inputs))
    }

    /// Where a program lies that is linked only to be compared.
    fn trial(&self) -> PathBuf {
        self.folder.path().join("trial")
    }

    /// Links them as lld has noted down, but for these arguments. The hash of the program, or none
    /// where the linker could not.
    fn link(&self, arguments: &[&str], to: &Path) -> Result<Option<String>> {
        let mut linker = Command::new(&self.linker);
        linker.args(["-flavor", "gnu", "@response.txt"]).args(arguments).arg("-o").arg(to);
        let status = linker.current_dir(self.folder.path().join(INPUTS)).status();
        let can = status.with_context(|| format!("cannot start {}", self.linker.display()))?.success();
        can.then(|| hash_file(to)).transpose()
    }
}

/// The name of lld's archive, and so of the folder in it.
const INPUTS: &str = "inputs";

/// The linker that comes with Rust, beside the libraries of this machine's kind.
fn linker(project: &Project) -> Result<PathBuf> {
    let asked = Command::new("rustc").args(["--print", "target-libdir"]).current_dir(project.root()).output();
    let asked = asked.context("cannot start rustc; is Rust installed? See README.md")?;
    ensure!(
        asked.status.success(),
        "rustc does not say where its libraries lie: {}",
        String::from_utf8_lossy(&asked.stderr)
    );
    let libraries = String::from_utf8(asked.stdout).context("rustc's libraries lie at a path that is not UTF-8")?;
    Ok(Path::new(libraries.trim_end()).with_file_name("bin").join("rust-lld"))
}

/// Has cargo link a program once more, exactly as usual, and puts what lld keeps of that into a
/// folder; whether there was any.
fn collect(project: &Project, program: &str, folder: &Path) -> Result<bool> {
    let archive = folder.join(INPUTS).with_extension("tar");
    forget_linked(project, program)?;
    let mut cargo = cargo(project)?;
    let status = cargo.args(["--quiet", "--bin", program]).env("LLD_REPRODUCE", &archive).status().context(NO_CARGO)?;
    ensure!(
        status.success(),
        "{program} cannot be linked once more; see cargo's message above{}",
        full_disk(&project.target())
    );
    if !archive.is_file() {
        return Ok(false);
    }
    let unpacked = fs::File::open(&archive).and_then(|file| Archive::new(file).unpack(folder));
    unpacked.with_context(|| format!("cannot unpack {}", archive.display()))?;
    Ok(true)
}

/// Removes cargo's own copy of a program, without which it links again. The one that is measured
/// stays until it is replaced.
fn forget_linked(project: &Project, program: &str) -> Result<()> {
    let (copies, prefix) = (project.programs().join("deps"), format!("{}-", program.replace('-', "_")));
    let remove = || -> std::io::Result<()> {
        for entry in fs::read_dir(&copies)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    remove().with_context(|| format!("in {}", copies.display()))
}
