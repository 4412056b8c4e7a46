//! `tally schema`: the formats of plans, for editors and for those who write them.

use std::fs;

use anyhow::{Context, Result};
use clap::Args;

use crate::print::formats::{self, Format};
use crate::project::Project;
use crate::say;

/// What the keys of a plan's files are, as a JSON Schema
#[derive(Args)]
pub struct Schema {
    /// A format; without one, those that there are
    pub format: Option<String>,
    /// Write every schema to target/schemas, where .taplo.toml finds it for an editor, and the
    /// tables of benches-src/README.md
    #[arg(long, conflicts_with = "format")]
    pub write: bool,
}

impl Schema {
    /// Prints a schema, or which there are; or writes them all, which prints nothing.
    pub fn print(&self, project: &Project) -> Result<String> {
        if self.write {
            write(project)?;
            return Ok(String::new());
        }
        match &self.format {
            Some(name) => Ok(formats::named(name)?.json()),
            None => {
                let line = |format: &Format| format!("{:12} {:34} {}\n", format.name, format.files, format.is());
                Ok(formats::all().iter().map(line).collect())
            }
        }
    }
}

fn write(project: &Project) -> Result<()> {
    let folder = project.schemas();
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for format in formats::all() {
        let path = folder.join(format!("{}.json", format.name));
        fs::write(&path, format.json()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let path = project.formats();
    let readme = fs::read_to_string(&path).with_context(|| format!("cannot read {}", project.place(&path)))?;
    let rewritten = formats::rewritten(&readme).with_context(|| project.place(&path))?;
    fs::write(&path, rewritten).with_context(|| format!("cannot write {}", project.place(&path)))?;
    say!("tally: wrote {} and the tables of {}", project.place(&folder), project.place(&path));
    Ok(())
}
