//! `tally identify`: writes down what the compiler made of each program, so that printing knows it
//! without compiling anything.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::project::Project;
use crate::record::programs::Built;
use crate::say;

/// Write down what each built program is made of: its files, and its machine code
#[derive(Args)]
pub struct Identify {
    /// Where the programs were built [default: target/release]
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
}

impl Identify {
    pub fn run(&self, project: &Project) -> Result<()> {
        let folder = self.programs.clone().unwrap_or_else(|| project.programs());
        let text = ABOUT.to_owned() + &toml::to_string(&Built::of_all(project, &folder)?)?;
        let path = project.built_for_this_machine();
        fs::create_dir_all(project.data_of_programs())?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say!("tally: wrote {}", path.display());
        Ok(())
    }
}

const ABOUT: &str = "# What each program is made of, by `cargo tally identify`: files as the compiler listed them, \
                     from benches-src on, and hashes of its sources\n\
                     # and of its machine code. What they mean: benches-src/tally/identity/src/programs.rs\n\n";
