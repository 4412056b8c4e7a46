//! Builds the programs, and links them again with their functions in other orders.
//!
//! Where a program's code lies decides how it falls into the processor's caches and predictors. The linker chooses that once for
//! all rounds, so that what it costs would be in every round and in no interval.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::plan::Experiment;
use crate::project::Project;
use crate::sources::hash_file;

/// Builds all programs as they are; where they lie.
pub fn build(project: &Project) -> Result<PathBuf> {
    let status = cargo(project).arg("--bins").status().context(NO_CARGO)?;
    ensure!(status.success(), "the programs cannot be built; see cargo's message above");
    let programs = project.programs();
    if !programs.is_dir() {
        bail!("cargo built the programs somewhere else than {}; is CARGO_TARGET_DIR set?", programs.display());
    }
    Ok(programs)
}

const NO_CARGO: &str = "cannot start cargo; is Rust installed? See README.md";

/// All programs together, never one alone, so that their dependencies have the same features each time.
fn cargo(project: &Project) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--workspace", "--manifest-path"]);
    cargo.arg(project.benches().join("Cargo.toml")).current_dir(project.root());
    // This program's own package, when cargo runs it. Some build scripts ask to be run again where these differ, and then a build from
    // here and one from a shell would each make the other compile anew.
    for (name, _) in env::vars_os() {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|of_package| name.to_string_lossy().starts_with(of_package)) {
            cargo.env_remove(name);
        }
    }
    // Only who asks for an order gets one, whatever the shell has left from trying some.
    cargo.env_remove(LINK_ORDER);
    cargo
}

/// What the build script of a chapter asks for; a number from 1 on.
const LINK_ORDER: &str = "LINK_ORDER";

/// An experiment's programs, each linked with its functions in many orders. They are kept from one session to the next.
pub struct LinkOrders<'a> {
    project: &'a Project,
    /// Each program with the hash of what it is as usually linked: what was linked of another is not used.
    programs: BTreeMap<&'a str, String>,
}

impl<'a> LinkOrders<'a> {
    /// Of programs that have just been built.
    pub fn of(project: &'a Project, experiment: &'a Experiment) -> Result<Self> {
        let with_hash = |program: &'a str| Ok((program, hash_file(&project.programs().join(program))?));
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

    /// Links the programs in these orders, as far as they are not there yet; whether this linker can do so.
    pub fn link(&self, orders: Range<u32>) -> Result<bool> {
        self.forget_what_is_old()?;
        let lacking = |order| {
            let lacks = |program: &&str| !self.program(program, order).is_file();
            (order, self.programs.keys().copied().filter(lacks).collect::<Vec<_>>())
        };
        let lacking: Vec<_> = orders.map(lacking).filter(|(_, programs)| !programs.is_empty()).collect();
        if lacking.is_empty() {
            return Ok(true);
        }
        eprintln!("tally: linking its programs in {} orders, which takes minutes", lacking.len());
        let mut can = true;
        for (order, programs) in lacking {
            can = self.link_in(order, &programs)?;
            if !can {
                break;
            }
        }
        build(self.project)?;
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

    fn link_in(&self, order: u32, programs: &[&str]) -> Result<bool> {
        let mut cargo = cargo(self.project);
        cargo.arg("--quiet").env(LINK_ORDER, order.to_string());
        cargo.args(programs.iter().flat_map(|program| ["--bin", program]));
        if !cargo.status().context(NO_CARGO)?.success() {
            return Ok(false);
        }
        for program in programs {
            let (from, to) = (self.project.programs().join(program), self.program(program, order));
            ensure!(
                hash_file(&from)? != self.programs[program],
                "{program} is the same in order {order} as without; its chapter's build script has to know {LINK_ORDER}"
            );
            let beside = to.with_extension("new");
            let copied = fs::copy(&from, &beside).and_then(|_| fs::rename(&beside, &to));
            copied.with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        }
        Ok(true)
    }

    /// Makes the folders, and removes from them what was linked of programs as they were before.
    fn forget_what_is_old(&self) -> Result<()> {
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
