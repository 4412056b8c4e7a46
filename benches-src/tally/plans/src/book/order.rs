//! In which order things of a chapter are measured and listed.

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

/// In which order a chapter's experiments come. What it does not name comes last, by name.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The experiments, each a file of `experiments/`, in the order in which they are measured and
    /// listed.
    #[serde(default)]
    pub experiments: Vec<String>,
}

/// Sorts experiments, each with its name: first as they are `named`, each once, and then the others
/// by name.
pub fn sort<T>(mut found: Vec<(String, T)>, named: &[String]) -> Result<Vec<(String, T)>> {
    for (place, wanted) in named.iter().enumerate() {
        ensure!(!named[..place].contains(wanted), "it names {wanted:?} twice");
        ensure!(
            found.iter().any(|(name, _)| name == wanted),
            "there is no experiments/{wanted}.toml; take {wanted:?} out of experiments"
        );
    }
    let place = |name: &String| named.iter().position(|wanted| wanted == name).unwrap_or(named.len());
    found.sort_by(|(a, _), (b, _)| (place(a), a).cmp(&(place(b), b)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(found: &[&str], named: &[&str]) -> Result<Vec<String>> {
        let found = found.iter().map(|name| ((*name).to_owned(), ())).collect();
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        Ok(sort(found, &named)?.into_iter().map(|(name, ())| name).collect())
    }

    #[test]
    fn what_is_named_comes_first_and_the_rest_by_name() {
        assert_eq!(sorted(&["c", "d", "b", "a"], &["d", "c"]).unwrap(), ["d", "c", "a", "b"]);
        assert_eq!(sorted(&["b", "a"], &[]).unwrap(), ["a", "b"]);
        let missing = sorted(&["a"], &["a", "b"]).unwrap_err().to_string();
        assert_eq!(missing, "there is no experiments/b.toml; take \"b\" out of experiments");
        assert!(sorted(&["a"], &["a", "a"]).unwrap_err().to_string().contains("twice"));
    }
}
