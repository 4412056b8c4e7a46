//! tally's rooms, and the arrows between them: each knows those before it and none after it, so
//! that no two know each other. And a file is short enough to be read at a sitting, with few that
//! have to be read together with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// In the order in which they know one another, each with its crate's folder. What stands before
/// them all is known by all.
const ROOMS: [(&str, &str); 9] = [
    ("book", "plans/src"),
    ("identity", "identity/src"),
    ("machine", "machine/src"),
    ("record", "results/src"),
    ("compute", "results/src"),
    ("measure", "src"),
    ("print", "src"),
    ("mdbook", "src"),
    ("cmd", "src"),
];

const LONGEST_FILE_LINES: usize = 400;

/// The most files of a room each of which knows, by way of others, all the rest.
const LARGEST_CIRCLE: usize = 3;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn folder(of_crate: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of_crate)
}

/// Where a room's files lie: a folder of its crate, or all of a crate that is called like it.
fn room_folder(room: &str, own: &str) -> PathBuf {
    if Path::new(own).starts_with(room) { folder(own) } else { folder(own).join(room) }
}

/// Between crates the compiler sees to it.
#[test]
fn arrows_between_rooms_go_one_way() {
    for (place, (room, own)) in ROOMS.iter().enumerate() {
        for file in files(&room_folder(room, own)) {
            let text = fs::read_to_string(&file).unwrap();
            for (later, _) in &ROOMS[place + 1..] {
                let arrow = format!("crate::{later}::");
                let line = text.lines().find(|line| line.contains(&arrow) && !line.trim_start().starts_with("//"));
                assert_eq!(line, None, "{} knows the room {later}", file.display());
            }
        }
    }
}

#[test]
fn what_all_rooms_stand_on_knows_none_of_them() {
    for file in [
        "plans/src/name.rs",
        "plans/src/project.rs",
        "plans/src/remembered.rs",
        "plans/src/say.rs",
        "machine/src/answered.rs",
        "results/src/statistics.rs",
    ] {
        let text = fs::read_to_string(folder(file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (room, _) in ROOMS {
            assert!(!code.contains(&format!("crate::{room}::")), "{file} knows the room {room}");
        }
    }
}

#[test]
fn no_file_is_longer_than_one_reads_at_a_sitting() {
    let crates: BTreeSet<&str> = ROOMS.into_iter().map(|(_, own)| own).collect();
    for file in crates.into_iter().flat_map(|own| files(&folder(own))) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LONGEST_FILE_LINES, "{} has {lines} lines", file.display());
    }
}

/// What a file is in Rust's words: `print::charts::layout`; nothing where it is a whole crate.
fn module(file: &Path, own: &str) -> String {
    let path = file.strip_prefix(folder(own)).unwrap().with_extension("");
    let parts: Vec<_> =
        path.iter().map(|part| part.to_string_lossy()).filter(|part| part != "mod" && part != "lib").collect();
    parts.join("::")
}

fn within(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The modules that a file names, whether all of them are files or not: by `crate::` and `super::`,
/// and its children by `use`.
fn named_in(module: &str, code: &str) -> Vec<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let path = Regex::new(r"\b(crate|super)::(\w+(?:::\w+)*)(?:::\{([^}]*)\})?").unwrap();
    let mut named = Vec::new();
    for found in path.captures_iter(code) {
        let base = if &found[1] == "crate" { found[2].to_owned() } else { within(parent, &found[2]) };
        let inner = found.get(3).map_or("", |inner| inner.as_str()).split(',');
        named.extend(inner.map(|name| format!("{base}::{}", name.trim())));
    }
    let child = Regex::new(r"(?m)^\s*(?:pub )?use (?:self::)?(\w+)::").unwrap();
    named.extend(child.captures_iter(code).map(|found| within(module, &found[1])));
    named
}

/// Every file of a room with those of the same room that it knows.
fn arrows_within(room: &str, own: &str) -> BTreeMap<String, BTreeSet<String>> {
    let is_test = |file: &PathBuf| file.iter().any(|part| part == "tests" || part == "tests.rs");
    let files = files(&room_folder(room, own)).into_iter().filter(|file| !is_test(file));
    let texts: BTreeMap<String, String> =
        files.map(|file| (module(&file, own), fs::read_to_string(&file).unwrap())).collect();
    let known = |own: &String, text: &String| {
        let code = text.split("#[cfg(test)]").next().unwrap();
        let named = named_in(own, code).into_iter();
        // A name is of the file whose path it begins with, and of the nearest.
        let file = |name: String| {
            let whole = |path: &&String| path.is_empty() || name == **path || name.starts_with(&format!("{path}::"));
            texts.keys().filter(whole).max_by_key(|path| path.len()).cloned()
        };
        named.filter_map(file).filter(|other| other != own && other != room).collect()
    };
    texts.iter().map(|(own, text)| (own.clone(), known(own, text))).collect()
}

/// Everything that a file knows, by way of others too.
fn reached<'a>(arrows: &'a BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = arrows[from].iter().map(String::as_str).collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(arrows[file].iter().map(String::as_str));
        }
    }
    reached
}

#[test]
fn circles_of_files_are_small() {
    for (room, own) in ROOMS {
        let arrows = arrows_within(room, own);
        for file in arrows.keys() {
            let back = |other: &&str| reached(&arrows, other).contains(file.as_str());
            let circle: BTreeSet<&str> = reached(&arrows, file).into_iter().filter(back).collect();
            assert!(circle.len() <= LARGEST_CIRCLE, "{} files know each other: {circle:?}", circle.len());
        }
    }
}

#[test]
fn a_file_knows_what_it_names() {
    let code = "use super::b::C;\nuse crate::print::{a, d::E};\nuse child::Child;\n";
    let known = named_in("print::view::ways", code);
    for name in ["print::view::b::C", "print::a", "print::d::E", "print::view::ways::child"] {
        assert!(known.iter().any(|own| own.starts_with(name)), "{name}: {known:?}");
    }
}
