//! What all programs stand on: harness, dependencies, compiler, flags.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use plans::project::Project;
use serde::Deserialize;

use super::checksum::{hash, hash_file};

/// What equivalences call the harness, which stands beneath all programs.
pub const HARNESS: &str = "harness";

/// What stands beneath a chapter's programs, by name, each with its hash.
pub fn beneath(project: &Project, chapter: &str, harness: &str) -> Result<BTreeMap<String, String>> {
    let benches = project.benches();
    let mut beneath = BTreeMap::from([(HARNESS.to_owned(), harness.to_owned())]);
    let build = format!("{chapter}/build.rs");
    if benches.join(&build).is_file() {
        beneath.insert(build.clone(), hash_file(&benches.join(build))?);
    }
    let workspace = workspace(project)?;
    let lock = fs::read_to_string(benches.join("Cargo.lock")).context("cannot read benches-src/Cargo.lock")?;
    let mut dependencies = dependencies_of(chapter, &workspace, &lock)?;
    for folder in [chapter, "harness", "observation", "executor", "resources", "runtime"] {
        let text = fs::read_to_string(benches.join(folder).join("Cargo.toml")).unwrap_or_default();
        dependencies += &asked_by(&text).with_context(|| format!("benches-src/{folder}/Cargo.toml is no manifest"))?;
    }
    beneath.insert("dependencies".to_owned(), hash(dependencies.as_bytes()));
    beneath.insert("profile".to_owned(), hash(profile(&workspace).as_bytes()));
    for file in ["rust-toolchain.toml", ".cargo/config.toml"] {
        beneath.insert(file.to_owned(), hash_file(&project.root().join(file))?);
    }
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    beneath.insert("RUSTFLAGS".to_owned(), hash(without_lints(&flags).as_bytes()));
    Ok(beneath)
}

/// What a manifest asks of packages. Whether it could do without one decides nothing.
fn asked_by(manifest: &str) -> Result<String> {
    let manifest: toml::Table = toml::from_str(manifest)?;
    let mut asked = String::new();
    for (name, package) in manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten() {
        let mut package = package.clone();
        if let Some(table) = package.as_table_mut() {
            table.remove("optional");
        }
        asked += &format!("{name} {package}\n");
    }
    Ok(asked)
}

/// Flags of the compiler, without those that say what it warns of.
fn without_lints(flags: &str) -> String {
    const ALONE: [&str; 8] = ["-D", "-W", "-A", "-F", "--deny", "--warn", "--allow", "--forbid"];
    const WITH_VALUE: [&str; 2] = ["--cap-lints", "--check-cfg"];
    let mut words = flags.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if ALONE.contains(&word) || WITH_VALUE.contains(&word) {
            words.next();
        } else if !["-D", "-W", "-A", "-F", "--cap-lints=", "--check-cfg="].iter().any(|lint| word.starts_with(lint)) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    #[serde(default)]
    checksum: String,
    /// Each a name, with a version where there are several.
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Package {
    fn is_called(&self, wanted: &str) -> bool {
        let (name, version) = wanted.split_once(' ').unwrap_or((wanted, &self.version));
        self.name == name && self.version == version
    }
}

/// What a chapter's programs are made of besides this project's own files: every package that they
/// need, directly or not, with its version and checksum, and the features that the workspace asks
/// of it. What other chapters need does not count.
fn dependencies_of(chapter: &str, workspace: &toml::Table, lock: &str) -> Result<String> {
    let lock: Lock = toml::from_str(lock).context("benches-src/Cargo.lock is no lock file")?;
    let asked = workspace.get("workspace").and_then(|table| table.get("dependencies"));
    let mut wanted = vec![chapter.to_owned()];
    let mut found = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        let Some(package) = lock.package.iter().find(|package| package.is_called(&name)) else { continue };
        let asked = asked.and_then(|asked| asked.get(&package.name)).map_or(String::new(), ToString::to_string);
        let line = format!("{} {} {} {asked}\n", package.name, package.version, package.checksum);
        if found.insert((&package.name, &package.version), line).is_none() {
            wanted.extend(package.dependencies.iter().cloned());
        }
    }
    Ok(found.into_values().collect())
}

/// The manifest of the workspace of all programs.
pub fn workspace(project: &Project) -> Result<toml::Table> {
    let text =
        fs::read_to_string(project.benches().join("Cargo.toml")).context("cannot read benches-src/Cargo.toml")?;
    toml::from_str(&text).context("benches-src/Cargo.toml is no manifest")
}

/// How the workspace's programs are compiled.
fn profile(workspace: &toml::Table) -> String {
    workspace.get("profile").map_or(String::new(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_chapter_does_not_need_does_not_count() {
        let manifest = |features: &str, profile: &str| {
            let text = format!(
                "[workspace.dependencies]\na = {{ version = \"1\", features = [\"{features}\"] }}\nz = \
                 \"1\"\n[profile.release]\nlto = \"{profile}\"\n"
            );
            toml::from_str::<toml::Table>(&text).unwrap()
        };
        let lock = |b: &str, z: &str| {
            format!(
                "version = 4\n[[package]]\nname = \"chapter\"\nversion = \"0.1.0\"\ndependencies = [\"a\"]\n\
                 [[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\"b 2.0.0\"]\n\
                 [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nchecksum = \"other\"\n\
                 [[package]]\nname = \"b\"\nversion = \"2.0.0\"\nchecksum = \"{b}\"\ndependencies = [\"a\"]\n\
                 [[package]]\nname = \"z\"\nversion = \"{z}\"\n"
            )
        };
        let of = |features: &str, b: &str, z: &str| {
            dependencies_of("chapter", &manifest(features, "off"), &lock(b, z)).unwrap()
        };
        assert_eq!(of("x", "1", "1"), of("x", "1", "2"), "z is another chapter's");
        assert_ne!(of("x", "1", "1"), of("x", "2", "1"), "b is needed by a");
        assert_ne!(of("x", "1", "1"), of("y", "1", "1"), "features of a");
        assert!(!of("x", "1", "1").contains("other"), "the other b is not needed");
        assert_ne!(profile(&manifest("x", "off")), profile(&manifest("x", "fat")));
    }

    #[test]
    fn what_a_compiler_warns_of_decides_nothing() {
        for lints in ["-D warnings", "-Dwarnings", "-W unused -A dead_code", "--cap-lints warn", "--cap-lints=warn", ""]
        {
            assert_eq!(without_lints(&format!("-C target-cpu=native {lints}")), "-C target-cpu=native");
        }
        assert_ne!(without_lints("-C opt-level=1"), without_lints("-C opt-level=2"));
    }
}
