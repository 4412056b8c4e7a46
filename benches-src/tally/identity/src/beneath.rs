//! What all programs stand on: harness, dependencies, compiler, flags.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::mem::take;
use std::path::Path;

use anyhow::{Context, Result};
use plans::project::Project;
use serde::Deserialize;

use super::checksum::{hash, hash_file};
use super::programs::Programs;

/// What equivalences call the harness, which stands beneath all programs.
pub const HARNESS: &str = "harness";

/// What stands beneath a chapter's programs, by name, each with its hash.
#[derive(Debug, Clone, Default)]
pub struct Beneath {
    /// Beneath all of them.
    all: BTreeMap<String, String>,
    /// Packages beneath some of them alone, each with these programs.
    apart: BTreeMap<String, (BTreeSet<String>, String)>,
}

impl Beneath {
    /// What stands beneath these programs.
    pub fn of(&self, programs: &BTreeSet<&String>) -> BTreeMap<String, String> {
        let apart = self.apart.iter().filter(|(_, (of, _))| programs.iter().any(|program| of.contains(*program)));
        let apart = apart.map(|(package, (_, hash))| (package.clone(), hash.clone()));
        self.all.clone().into_iter().chain(apart).collect()
    }
}

/// What stands beneath a chapter's programs, as they lie here.
pub fn beneath(project: &Project, chapter: &str, harness: &str, today: &Programs) -> Result<Beneath> {
    let benches = project.benches();
    let mut beneath = BTreeMap::from([(HARNESS.to_owned(), harness.to_owned())]);
    let build = format!("{chapter}/build.rs");
    if benches.join(&build).is_file() {
        beneath.insert(build.clone(), hash_file(&benches.join(build))?);
    }
    let workspace = workspace(project)?;
    let lock = fs::read_to_string(benches.join("Cargo.lock")).context("cannot read benches-src/Cargo.lock")?;
    let mut manifest = manifest(project, chapter)?;
    let apart = manifest.take_apart(chapter)?;
    let mut dependencies = dependencies_of(chapter, &apart, &workspace, &lock)?;
    dependencies += &manifest.asked();
    for folder in ["harness", "observation", "executor", "resources", "runtime"] {
        dependencies += &self::manifest(project, folder)?.asked();
    }
    beneath.insert("dependencies".to_owned(), hash(dependencies.as_bytes()));
    beneath.insert("profile".to_owned(), hash(profile(&workspace).as_bytes()));
    for file in ["rust-toolchain.toml", ".cargo/config.toml"] {
        beneath.insert(file.to_owned(), hash_file(&project.root().join(file))?);
    }
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    beneath.insert("RUSTFLAGS".to_owned(), hash(without_lints(&flags).as_bytes()));
    let of_package = |(package, asked): (String, String)| {
        let all = dependencies_of(&package, &BTreeMap::new(), &workspace, &lock)? + &asked;
        let word = package.replace('-', "_");
        let names_it = |file: &String| fs::read_to_string(benches.join(file)).is_ok_and(|text| text.contains(&word));
        Ok((package, (made_of_some(today, chapter, names_it), hash(all.as_bytes()))))
    };
    let apart = apart.into_iter().map(of_package).collect::<Result<_>>()?;
    Ok(Beneath { all: beneath, apart })
}

/// The programs that are made of at least one such file of a chapter.
fn made_of_some(today: &Programs, chapter: &str, is_such: impl Fn(&String) -> bool) -> BTreeSet<String> {
    let files: BTreeSet<_> = today.files.values().flat_map(BTreeMap::keys).collect();
    let files: BTreeSet<_> =
        files.into_iter().filter(|file| Path::new(file).starts_with(chapter) && is_such(file)).collect();
    let programs = today.files.iter().filter(|(_, own)| own.keys().any(|file| files.contains(file)));
    programs.map(|(program, _)| program.clone()).collect()
}

/// What a manifest says of packages.
#[derive(Default, Deserialize)]
struct Manifest {
    #[serde(default)]
    dependencies: toml::Table,
    #[serde(default)]
    package: OwnPackage,
}

#[derive(Default, Deserialize)]
struct OwnPackage {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    /// Packages that stand beneath the programs alone that name them: what changes in one makes no
    /// other program's records older.
    #[serde(default)]
    apart: BTreeSet<String>,
}

fn manifest(project: &Project, folder: &str) -> Result<Manifest> {
    let text = fs::read_to_string(project.benches().join(folder).join("Cargo.toml")).unwrap_or_default();
    toml::from_str(&text).with_context(|| format!("benches-src/{folder}/Cargo.toml is no manifest"))
}

impl Manifest {
    /// Takes out the packages that are set apart: each with how it is asked for.
    fn take_apart(&mut self, chapter: &str) -> Result<BTreeMap<String, String>> {
        let apart = take(&mut self.package.metadata.apart).into_iter().map(|package| {
            let asked = self.dependencies.remove(&package).with_context(|| {
                format!("benches-src/{chapter}/Cargo.toml sets {package} apart, and has no such dependency")
            })?;
            let asked = asked_for(&package, asked);
            Ok((package, asked))
        });
        apart.collect()
    }

    /// What it asks for.
    fn asked(&self) -> String {
        self.dependencies.iter().map(|(name, package)| asked_for(name, package.clone())).collect()
    }
}

/// How a package is asked for. Whether it could be done without decides nothing.
fn asked_for(name: &str, mut package: toml::Value) -> String {
    if let Some(table) = package.as_table_mut() {
        table.remove("optional");
    }
    format!("{name} {package}\n")
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
/// of it. What other chapters need does not count, nor what is set apart.
fn dependencies_of(
    chapter: &str,
    apart: &BTreeMap<String, String>,
    workspace: &toml::Table,
    lock: &str,
) -> Result<String> {
    let lock: Lock = toml::from_str(lock).context("benches-src/Cargo.lock is no lock file")?;
    let asked = workspace.get("workspace").and_then(|table| table.get("dependencies"));
    let mut wanted = vec![chapter.to_owned()];
    let mut found = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        let Some(package) = lock.package.iter().find(|package| package.is_called(&name)) else { continue };
        let asked = asked.and_then(|asked| asked.get(&package.name)).map_or(String::new(), ToString::to_string);
        let line = format!("{} {} {} {asked}\n", package.name, package.version, package.checksum);
        if found.insert((&package.name, &package.version), line).is_none() {
            let is_its_own = package.name == chapter;
            let needed = package.dependencies.iter().filter(|name| !(is_its_own && apart.contains_key(*name)));
            wanted.extend(needed.cloned());
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
            dependencies_of("chapter", &BTreeMap::new(), &manifest(features, "off"), &lock(b, z)).unwrap()
        };
        assert_eq!(of("x", "1", "1"), of("x", "1", "2"), "z is another chapter's");
        assert_ne!(of("x", "1", "1"), of("x", "2", "1"), "b is needed by a");
        assert_ne!(of("x", "1", "1"), of("y", "1", "1"), "features of a");
        assert!(!of("x", "1", "1").contains("other"), "the other b is not needed");
        assert_ne!(profile(&manifest("x", "off")), profile(&manifest("x", "fat")));
    }

    #[test]
    fn a_package_that_is_set_apart_stands_beneath_the_programs_that_name_it() {
        let manifest = |apart: &str| {
            let asked = "[dependencies]\na = \"1\"\nz = { version = \"1\", features = [\"x\"] }\n";
            toml::from_str::<Manifest>(&format!("{asked}[package.metadata]\napart = [\"{apart}\"]")).unwrap()
        };
        let mut some = manifest("z");
        let apart = some.take_apart("chapter").unwrap();
        assert_eq!(some.asked(), "a \"1\"\n");
        assert!(apart["z"].contains("features"), "{apart:?}");
        let error = manifest("nothing").take_apart("chapter").unwrap_err().to_string();
        assert!(error.contains("chapter/Cargo.toml sets nothing apart"), "{error}");

        let lock = "version = 4\n[[package]]\nname = \"chapter\"\nversion = \"1\"\ndependencies = [\"a\", \"z\"]\n\
                    [[package]]\nname = \"a\"\nversion = \"1\"\n[[package]]\nname = \"z\"\nversion = \"1\"\n";
        let of = |apart: &BTreeMap<_, _>| dependencies_of("chapter", apart, &toml::Table::new(), lock).unwrap();
        assert!(of(&BTreeMap::new()).contains("z 1") && !of(&apart).contains("z 1"));

        let one = |name: &str| BTreeMap::from([(name.to_owned(), name.to_owned())]);
        let files = [("only", "chapter/z.rs"), ("other", "chapter/a.rs"), ("elsewhere", "chapter-2/z.rs")];
        let files = files.map(|(program, file)| (program.to_owned(), one(file))).into();
        let users = made_of_some(&Programs { files, ..Programs::default() }, "chapter", |file| file.ends_with("z.rs"));
        assert_eq!(users, BTreeSet::from(["only".to_owned()]));

        let beneath = Beneath { all: one("a"), apart: BTreeMap::from([("z".to_owned(), (users, "z".to_owned()))]) };
        let (only, other) = ("only".to_owned(), "other".to_owned());
        assert_eq!(beneath.of(&BTreeSet::from([&other])), one("a"));
        assert_eq!(beneath.of(&BTreeSet::from([&only, &other])).len(), 2);
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
