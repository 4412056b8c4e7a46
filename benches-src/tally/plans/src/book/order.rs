//! In which order things of a chapter are measured and listed.

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;

/// In which order a chapter's experiments and claims come. What it does not name comes last, by
/// name, and so nobody has to add to it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The experiments, each a file of `experiments/`, in the order in which they are measured and
    /// listed.
    #[serde(default)]
    pub experiments: Vec<String>,
    /// The claims, each a file of `claims/`, in the order in which they are listed.
    #[serde(default)]
    pub claims: Vec<String>,
}

/// Sorts what lies in the files of a folder, each with its name: first as they are `named`, each
/// once, and then the others by name.
pub fn sort<T>(mut found: Vec<(String, T)>, named: &[String], folder: &str) -> Result<Vec<(String, T)>> {
    for (place, wanted) in named.iter().enumerate() {
        ensure!(!named[..place].contains(wanted), "it names {wanted:?} twice in {folder}");
        ensure!(
            found.iter().any(|(name, _)| name == wanted),
            "there is no {folder}/{wanted}.toml; take {wanted:?} out of {folder}"
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
        Ok(sort(found, &named, "claims")?.into_iter().map(|(name, ())| name).collect())
    }

    #[test]
    fn what_is_named_comes_first_and_the_rest_by_name() {
        assert_eq!(sorted(&["C1", "Q1", "V1", "A"], &["V1", "Q1"]).unwrap(), ["V1", "Q1", "A", "C1"]);
        assert_eq!(sorted(&["b", "a"], &[]).unwrap(), ["a", "b"]);
        let missing = sorted(&["C1"], &["C1", "C2"]).unwrap_err().to_string();
        assert_eq!(missing, "there is no claims/C2.toml; take \"C2\" out of claims");
        assert!(sorted(&["C1"], &["C1", "C1"]).unwrap_err().to_string().contains("twice"));
    }
}
