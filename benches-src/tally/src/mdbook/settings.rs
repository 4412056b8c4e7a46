//! What mdBook hands over, and the settings of `[preprocessor.measure]` in it: from `book.toml`, or
//! from variables that override it.

use std::env;
use std::io::Read;

use anyhow::{Context, Result, anyhow, bail};
use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::{MDBOOK_VERSION, PreprocessorContext};
use serde::Deserialize;
use serde_json::Value;

use crate::record::Effort;

/// Where our settings stand.
const TABLE: &str = "preprocessor.measure";

/// The keys of `[preprocessor.measure]` that are ours.
#[derive(Deserialize)]
pub struct Settings {
    #[serde(default = "quick")]
    effort: String,
    #[serde(default = "local")]
    pub show: String,
    /// Whether to measure also what pushes the machine to its limits.
    #[serde(default, rename = "push-limits")]
    pub push_limits: bool,
}

fn quick() -> String {
    "quick".to_owned()
}

fn local() -> String {
    "local".to_owned()
}

/// Reads what mdBook writes to standard input. Another version writes it otherwise.
pub fn input(mut from: impl Read) -> Result<(PreprocessorContext, Book)> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).context("mdBook's input cannot be read")?;
    // mdBook's own `parse_input` reads byte by byte.
    serde_json::from_slice(&bytes).with_context(|| {
        let version = version_in(&bytes).map_or("names no version".to_owned(), |own| format!("is of mdBook {own}"));
        format!(
            "mdBook's input cannot be read: it {version}, and this book needs mdBook {MDBOOK_VERSION}; run: cargo \
             install --locked mdbook@{MDBOOK_VERSION}"
        )
    })
}

/// Which mdBook wrote it.
fn version_in(bytes: &[u8]) -> Option<String> {
    let input: Value = serde_json::from_slice(bytes).ok()?;
    let version = input.get(0)?.get("mdbook_version")?.as_str()?;
    // It comes to stand in a message.
    version.bytes().all(|sign| sign.is_ascii_alphanumeric() || b".-+".contains(&sign)).then(|| version.to_owned())
}

impl Settings {
    /// Reads them. An error names the variable that is wrong, or `book.toml`.
    pub fn of(context: &PreprocessorContext) -> Result<Self> {
        let table: toml::Table = context.config.get(TABLE)?.context("book.toml has no [preprocessor.measure]")?;
        for (key, value) in &table {
            let alone = toml::Table::from_iter([(key.clone(), value.clone())]);
            let read: Result<Self, toml::de::Error> = toml::Value::Table(alone).try_into();
            read.map_err(|error| anyhow!("{key} = {value}: {}, {}", error.message().trim(), place(key)))?;
        }
        Ok(toml::Value::Table(table).try_into()?)
    }

    /// With which effort to measure; nothing where nothing is to be measured.
    pub fn effort(&self) -> Result<Option<Effort>> {
        Ok(match self.effort.as_str() {
            "never" => None,
            "test" => Some(Effort::Test),
            "quick" => Some(Effort::Quick),
            "full" => Some(Effort::Full),
            unknown => bail!(
                "unknown effort {unknown:?} {}; there are: quick, full, never (and test, for tests)",
                place("effort")
            ),
        })
    }
}

/// Where a setting comes from.
pub fn place(key: &str) -> String {
    let wanted = format!("{TABLE}.{key}");
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    match names.filter(|name| overridden(name).is_some_and(|own| own == wanted || own == TABLE)).min() {
        Some(name) => format!("in the variable {name}"),
        None => "in [preprocessor.measure] of book.toml".to_owned(),
    }
}

/// The setting that a variable overrides, as mdBook reads its name.
fn overridden(name: &str) -> Option<String> {
    Some(name.strip_prefix("MDBOOK_")?.to_lowercase().replace("__", ".").replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_read_as_mdbook_reads_it() {
        let read = |name: &str| overridden(name).unwrap_or_default();
        assert_eq!(read("MDBOOK_PREPROCESSOR__MEASURE__PUSH_LIMITS"), "preprocessor.measure.push-limits");
        assert_eq!(read("MDBOOK_preprocessor__MEASURE"), TABLE);
        assert_eq!(read("PREPROCESSOR__MEASURE"), "");
    }

    #[test]
    fn a_version_is_found_in_whatever_mdbook_writes() {
        assert_eq!(version_in(br#"[{"mdbook_version":"0.4.52"},{"sections":[]}]"#).as_deref(), Some("0.4.52"));
        for none in [&b"[{}]"[..], b"", b"{", br#"[{"mdbook_version":"\u001b[2J"},1]"#, br#"[{"mdbook_version":4},1]"#]
        {
            assert_eq!(version_in(none), None);
        }
    }
}
