//! What must never stand in a record: this host's name, this user's, and folders that not every
//! machine has.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::kernel;

/// Names that must never stand in a record: this host's and this user's.
pub fn private_names() -> Vec<String> {
    let variables = ["USER", "LOGNAME", "HOSTNAME"];
    let mut names: Vec<String> = variables.iter().filter_map(|name| std::env::var(name).ok()).collect();
    names.extend(kernel::host());
    names.extend(fs::read_to_string("/etc/machine-id").map(|id| id.trim().to_owned()));
    // Shorter or more common ones would be found inside innocent words.
    names.retain(|name| name.len() > 3 && !["localhost", "root"].contains(&name.as_str()));
    names.sort();
    names.dedup();
    names
}

/// The folders that a text may name and must not, each with the word that stands for it: the
/// longest first, since one may lie in another.
fn private_folders(checkout: &Path) -> Vec<(String, &'static str)> {
    let variables = [
        ("CARGO_TARGET_DIR", "[target]"),
        ("CARGO_HOME", "[cargo]"),
        ("RUSTUP_HOME", "[rustup]"),
        ("TMPDIR", "[temporary]"),
        ("HOME", "[home]"),
        ("PWD", "[here]"),
    ];
    let known = variables.into_iter().filter_map(|(name, word)| Some((std::env::var(name).ok()?, word)));
    let mut folders: Vec<_> = [(checkout.display().to_string(), "[checkout]")].into_iter().chain(known).collect();
    for (folder, _) in &mut folders {
        folder.truncate(folder.trim_end_matches('/').len());
    }
    // A single slash is everywhere, and what every machine has is nobody's.
    folders.retain(|(folder, _)| folder.starts_with('/') && !is_everywhere(folder));
    folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
    folders
}

/// Whether a path is one that machines have in common.
fn is_everywhere(path: &str) -> bool {
    const COMMON: [&str; 10] = ["proc", "sys", "dev", "etc", "usr", "lib", "lib64", "bin", "sbin", "rustc"];
    let mut parts = path.split('/').skip(1);
    let first = parts.next().unwrap_or_default();
    COMMON.contains(&first) || (["tmp", "root", ""].contains(&first) && parts.next().is_none())
}

/// What somebody else printed, as a record keeps it: as plain text, and without private folders.
pub fn recorded(text: &str, checkout: &Path) -> String {
    plain(&without_folders(text, checkout))
}

/// Text without what a terminal obeys, such as colours: records refuse it.
pub fn plain(text: &str) -> String {
    text.chars().map(|sign| if is_control(sign) { ' ' } else { sign }).collect()
}

/// Text without the folders that it names: the checkout, whose home it is, and any other that not
/// every machine has, such as the one a program was built in elsewhere. Of a path within them a
/// file's name is left, and of one within a package of cargo's what is the package's.
pub fn without_folders(text: &str, checkout: &Path) -> String {
    let mut text = text.to_owned();
    if !text.contains('/') {
        return text;
    }
    for (folder, word) in private_folders(checkout) {
        let ends = Regex::new(&format!(r"{}([^\w-]|$)", regex::escape(&folder))).expect("an escaped path");
        text = ends.replace_all(&text, format!("{word}${{1}}")).into_owned();
    }
    let text = PACKAGE.replace_all(&text, "[cargo]/");
    let shown = |found: &Captures| {
        let (before, path) = (&found[1], &found[2]);
        match path.rsplit('/').next().filter(|file| file.trim_matches('.').contains('.')) {
            _ if is_everywhere(path) => format!("{before}{path}"),
            Some(file) => format!("{before}[folder]/{file}"),
            None => format!("{before}[folder]"),
        }
    };
    PATH.replace_all(&text, shown).into_owned()
}

/// Where cargo keeps a package's code.
static PACKAGE: LazyLock<Regex> = LazyLock::new(|| literal(r"(?:/[^/\s:]+)*/registry/src/[^/\s]+/"));

/// What stands before a path, and the path.
static PATH: LazyLock<Regex> =
    LazyLock::new(|| literal(r#"(^|[\s"'`(=\[<{,;:|])(/[^/\s"'`)\]>},;:|]+/[^\s"'`)\]>},;:|]*)"#));

/// A pattern that the code has, to be compiled once.
pub fn literal(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a literal that is well formed")
}

/// What moves a terminal's cursor or colours, beyond the end of a line, or has what follows run
/// from right to left. Compiled where records are read, which asks it of each of their letters.
#[inline]
pub fn is_control(sign: char) -> bool {
    let turns = matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (sign.is_control() && !['\n', '\t'].contains(&sign))
}
