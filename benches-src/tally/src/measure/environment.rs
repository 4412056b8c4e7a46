//! What is around a program when it is started: the variables of its environment. One of them can
//! have the dynamic loader put another allocator in the place of the C library's.
//!
//! A loader that does not find such a library warns and goes on, and what was measured then would
//! be the C library's allocator under another name. So it is asked before: it says which libraries
//! it would load for this very program, and starts nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::child::own_executable;
use super::counted::{NOT_INSTALLED, lacking};
use crate::book::allocator::Allocator;
use crate::book::cell::Cell;
use crate::record::checksum::hash_file;

/// Where programs find the tools that they start.
pub const PROGRAMS_PATH: &str = "/usr/bin:/bin";

/// The variable by which the loader is told of a library that comes before all others.
const PRELOAD: &str = "LD_PRELOAD";

/// The variables of a program's environment.
#[derive(Debug, Clone, Copy)]
pub struct Environment {
    /// So many bytes that mean nothing, and move the stack from round to round.
    padding_bytes: usize,
    /// The variable that makes its cell's condition.
    condition: Option<(&'static str, &'static str)>,
}

impl Environment {
    /// Those of a cell whose program lies there; the inner error is why its condition cannot be
    /// made.
    pub fn of(cell: &Cell, program: &Path, padding_bytes: usize) -> Result<Result<Self, String>> {
        let Some(allocator) = cell.allocator() else {
            return Ok(Ok(Self { padding_bytes, condition: cell.variable() }));
        };
        let found = library(allocator, program)?;
        Ok(found.map(|(soname, _)| Self { padding_bytes, condition: Some((PRELOAD, soname)) }))
    }

    /// Gives a command these variables and no others: the same few for every reader.
    pub fn give(self, command: &mut Command, temporary: &Path) {
        command
            .env_clear()
            .env("PATH", PROGRAMS_PATH)
            .env("TMPDIR", temporary)
            .env("ENVIRONMENT_PADDING", "x".repeat(self.padding_bytes))
            .envs(self.condition);
    }
}

/// The allocators' libraries that these cells load, by the loader's name for each, with the hash of
/// its file. What ran is known by these too.
pub fn loaded(cells: &[Cell], programs: &Path) -> Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    for cell in cells {
        let Some(allocator) = cell.allocator() else { continue };
        if let Ok((soname, file)) = library(allocator, &programs.join(&cell.program))? {
            hashes.insert(soname.to_owned(), hash_file(&file)?);
        }
    }
    Ok(hashes)
}

/// The library for lack of which something was not measured, if the loader finds it by now.
pub fn installed_since(reason: &str) -> Option<PathBuf> {
    let (soname, _) = reason.split_once(NOT_INSTALLED)?;
    let allocator = Allocator::EVERY.into_iter().find(|allocator| allocator.sonames.contains(&soname))?;
    Some(library(allocator, &own_executable()).ok()?.ok()?.1)
}

/// An allocator's library as the loader would load it for a program: its name, and where it lies;
/// the inner error is why it would not.
fn library(allocator: &Allocator, program: &Path) -> Result<Result<(&'static str, PathBuf), String>> {
    for soname in allocator.sonames {
        let said = ask_loader(soname, program)?;
        if !said.lines().any(is_loaded) {
            return Ok(Err("its program loads no libraries, and so none can be put before the C library's".to_owned()));
        }
        if let Some(file) = file_of(soname, &said) {
            return Ok(Ok((soname, file)));
        }
    }
    Ok(Err(lacking(allocator.sonames[0], &allocator.packages.join(", or "))))
}

/// What the loader says of the libraries that it would load for a program. It knows the folders of
/// its system, and the program's architecture.
fn ask_loader(soname: &str, program: &Path) -> Result<String> {
    let mut command = Command::new(program);
    // A program without a loader runs instead, and says what it has.
    command.arg("--describe").env_clear().env("PATH", PROGRAMS_PATH);
    command.env(PRELOAD, soname).env("LD_TRACE_LOADED_OBJECTS", "1");
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a line is one of the loader's, which end with an address.
fn is_loaded(line: &str) -> bool {
    line.starts_with('\t') && line.contains(" (0x") && line.ends_with(')')
}

/// Where a library lies, by what the loader says.
fn file_of(soname: &str, said: &str) -> Option<PathBuf> {
    let found = said.lines().filter(|line| is_loaded(line)).find_map(|line| {
        let (name, rest) = line.trim_start().split_once(" => ")?;
        (name == soname).then(|| rest.rsplit_once(" (0x"))?
    });
    found.map(|(file, _)| PathBuf::from(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: &str = "/bin/sh";

    /// A library that every C library of this kind has, and that no shell loads by itself.
    const ELSEWHERE: Allocator = Allocator { sonames: &["libnowhere.so.1", "libm.so.6"], packages: &["libnowhere1"] };

    #[test]
    fn the_loader_says_what_it_would_load() {
        let (soname, file) = library(&ELSEWHERE, Path::new(SHELL)).unwrap().unwrap();
        assert_eq!(soname, "libm.so.6");
        assert!(file.is_absolute() && file.is_file(), "{}", file.display());
    }

    #[test]
    fn a_library_that_is_not_there_is_named_with_its_package() {
        let nowhere = Allocator { sonames: &["libnowhere.so.1"], ..ELSEWHERE };
        let reason = library(&nowhere, Path::new(SHELL)).unwrap().unwrap_err();
        assert_eq!(reason, "libnowhere.so.1 is not installed; on Debian: apt-get install libnowhere1");
        assert_eq!(installed_since(&reason), None, "no condition loads it");
    }

    #[test]
    fn only_a_line_of_the_loader_says_where_a_library_lies() {
        let said = "\tlinux-vdso.so.1 (0x00007f48d7aa9000)\n\
            \tlibjemalloc.so.2 => /lib/a folder/libjemalloc.so.2 (0x00007f48d7600000)\n\
            \tlibother.so.2 => not found\n";
        assert_eq!(file_of("libjemalloc.so.2", said), Some("/lib/a folder/libjemalloc.so.2".into()));
        assert_eq!(file_of("libother.so.2", said), None);
        assert_eq!(file_of("libjemalloc.so", said), None);
        assert!(!is_loaded("{\"program\":\"a (0x1)\"}") && !is_loaded("\tlibother.so.2 => not found"));
    }
}
