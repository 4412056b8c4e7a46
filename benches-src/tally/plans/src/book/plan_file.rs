//! How every file of a plan is read: what is wrong with one is said with its path, its line and, of
//! a misspelt key, the nearest that there is.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow};
use serde::de::DeserializeOwned;

use crate::name::{self, nearest};
use crate::project::Project;

/// The most signs that a line of a plan has, so that a reader without wrapping sees all of it and a
/// diff shows what changed.
pub const LONGEST_LINE: usize = 160;

/// A file of a plan, and where it lies, from the project's root on.
pub fn read<T: DeserializeOwned>(project: &Project, path: &Path) -> Result<T> {
    let place = project.place(path);
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {place}"))?;
    parse(&text).map_err(|wrong| wrong.at(&place))
}

/// The same of a file that may be missing.
pub fn read_if_any<T: DeserializeOwned + Default>(project: &Project, path: &Path) -> Result<T> {
    if path.is_file() { read(project, path) } else { Ok(T::default()) }
}

/// The TOML files of a folder, by name; none where there is no folder.
pub fn in_folder(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    if folder.is_dir() { listed(folder) } else { Ok(Vec::new()) }
}

/// What lies in each of them, with its name.
pub fn read_all<T: DeserializeOwned>(project: &Project, folder: &Path) -> Result<Vec<(String, T)>> {
    in_folder(folder)?.into_iter().map(|(name, path)| Ok((name, read(project, &path)?))).collect()
}

/// The TOML files of a folder that must be there, by name.
pub fn listed(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if name::is_ones_own(&entry.file_name()) && path.extension().is_some_and(|extension| extension == "toml") {
            files.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path));
        }
    }
    files.sort();
    Ok(files)
}

/// The lines that are too long, each with its number, counted from 1.
pub fn long_lines(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let counted = text.lines().enumerate().map(|(index, line)| (index + 1, line.chars().count()));
    counted.filter(|(_, signs)| *signs > LONGEST_LINE)
}

/// What is wrong with a text, and on which line, where TOML says so.
#[derive(Debug)]
struct Wrong {
    line: Option<usize>,
    what: String,
}

impl Wrong {
    fn at(self, place: &str) -> Error {
        match self.line {
            Some(line) => anyhow!("{place}, line {line}: {}", self.what),
            None => anyhow!("{place}: {}", self.what),
        }
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Wrong> {
    toml::from_str(text).map_err(|error| {
        // What is missing from the whole file is on no line of it.
        let span = error.span().filter(|span| span.start > 0 || !error.message().starts_with("missing field"));
        let line = span.map(|span| 1 + text[..span.start].matches('\n').count());
        Wrong { line, what: said(error.message()) }
    })
}

/// What serde says, with the nearest of the keys or words that it lists.
fn said(message: &str) -> String {
    let message = message.trim_end().replace('\n', " ");
    let is_unknown = message.starts_with("unknown field") || message.starts_with("unknown variant");
    let mut words = message.split('`').skip(1).step_by(2);
    let near = words.next().filter(|_| is_unknown).and_then(|typed| nearest(typed, words));
    match near {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Example {
        question: String,
        limit_seconds: Option<u64>,
    }

    fn wrong(text: &str) -> String {
        parse::<Example>(text).unwrap_err().at("a.toml").to_string()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_the_nearest_key() {
        assert!(parse::<Example>("question = \"?\"\nlimit_seconds = 2\n").is_ok());
        let said = wrong("question = \"?\"\n\nlimit_second = 2\n");
        assert!(said.starts_with("a.toml, line 3: unknown field `limit_second`"), "{said}");
        assert!(said.ends_with("did you mean `limit_seconds`?"), "{said}");
        let said = wrong("question = \"?\"\nlimit_seconds = \"2\"\n");
        assert!(said.starts_with("a.toml, line 2: invalid type: string"), "{said}");
        assert_eq!(wrong("limit_seconds = 2\n"), "a.toml: missing field `question`");
        assert!(wrong("question = ?\n").starts_with("a.toml, line 1: "));
        let said = wrong("question = \"?\"\nzebra = 2\n");
        assert!(said.contains("expected `question` or `limit_seconds`") && !said.contains("did you mean"), "{said}");
    }

    #[test]
    fn a_line_has_at_most_160_signs() {
        let text = format!("short\n{}\n{}\n", "é".repeat(160), "é".repeat(161));
        assert_eq!(long_lines(&text).collect::<Vec<_>>(), [(3, 161)]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_with_a_line_that_it_has(text in "(question|limit_seconds| = \
            |\"|'''|2|\\[|\\{|\n|é|,|`){0,24}") {
            if let Err(wrong) = parse::<Example>(&text) {
                let lines = 1 + text.matches('\n').count();
                prop_assert!(wrong.line.is_none_or(|line| (1..=lines).contains(&line)) && !wrong.what.contains('\n'));
            }
        }
    }
}
