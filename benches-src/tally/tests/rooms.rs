//! tally's rooms, and the arrows between them: each knows those before it and none after it, so that no two know each other. And a file is short
//! enough to be read at a sitting.

use std::fs;
use std::path::{Path, PathBuf};

/// In the order in which they know one another. What stands before them all is known by all.
const ROOMS: [&str; 7] = ["book", "record", "measure", "compute", "print", "mdbook", "cmd"];

const LONGEST_FILE_LINES: usize = 400;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn arrows_between_rooms_go_one_way() {
    for (place, room) in ROOMS.iter().enumerate() {
        for file in files(&sources().join(room)) {
            let text = fs::read_to_string(&file).unwrap();
            for later in &ROOMS[place + 1..] {
                let arrow = format!("crate::{later}::");
                let line = text.lines().find(|line| line.contains(&arrow) && !line.trim_start().starts_with("//"));
                assert_eq!(line, None, "{} knows the room {later}", file.display());
            }
        }
    }
}

#[test]
fn what_all_rooms_stand_on_knows_none_of_them() {
    for file in ["name.rs", "project.rs", "say.rs", "statistics.rs"] {
        let text = fs::read_to_string(sources().join(file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for room in ROOMS {
            assert!(!code.contains(&format!("crate::{room}::")), "{file} knows the room {room}");
        }
    }
}

#[test]
fn no_file_is_longer_than_one_reads_at_a_sitting() {
    for file in files(&sources()) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LONGEST_FILE_LINES, "{} has {lines} lines", file.display());
    }
}
