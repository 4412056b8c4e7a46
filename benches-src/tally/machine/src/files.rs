//! The machine's files, as far as they have text.

use std::fs;
use std::path::Path;

/// Where a machine's files lie.
pub fn root() -> &'static Path {
    Path::new("/")
}

/// The text of a file, if it has any.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// What stands in a file after a name at the beginning of a line.
pub fn row(path: impl AsRef<Path>, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_owned())
}
