//! Names: of machines, chapters, programs, experiments. They become paths, anchors and addresses,
//! so there is one rule for all of them, and it is asked when they are read as well as when they
//! are made.

use anyhow::{Result, ensure};

/// The longest name that a file system is asked to keep, with room for an ending.
const MOST: usize = 100;

/// Whether it is lower-case words of letters and digits, with hyphens between them.
pub fn is_well_formed(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.len() <= MOST && name.split('-').all(is_word)
}

/// Refuses any other; `what` says what it would be the name of.
pub fn check(name: &str, what: &str) -> Result<()> {
    ensure!(
        is_well_formed(name),
        "{name:?} is no name for {what}; use lower-case words with hyphens, such as amd-epyc-2cpu-vm"
    );
    Ok(())
}

/// Whether a file is one that somebody wrote, by its name: editors leave links and copies of their
/// own beside it while they have it open.
pub fn is_ones_own(file: &std::ffi::OsStr) -> bool {
    let name = file.to_string_lossy();
    !name.starts_with(['.', '#']) && !name.ends_with('~')
}

/// The name that somebody who typed this may have meant.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.75;
    let scored = known.map(|name| (strsim::jaro_winkler(typed, name), name));
    scored.filter(|(score, _)| *score > ALIKE).max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_words_with_hyphens() {
        for name in ["a", "rust-dev-2013", "2cpu"] {
            assert!(is_well_formed(name), "{name}");
        }
        let long = "x".repeat(MOST + 1);
        for name in
            ["", "-", "a-", "a--b", "A", "a b", "a.b", "../a", "z<!-- cmdrun touch y -->", "x\" onclick=", &long]
        {
            assert!(check(name, "a machine").unwrap_err().to_string().contains("is no name for a machine"), "{name}");
        }
    }

    #[test]
    fn what_an_editor_leaves_is_nobodys_own() {
        for name in [".lib.rs.swp", ".#lib.rs", "#lib.rs#", "lib.rs~"] {
            assert!(!is_ones_own(name.as_ref()), "{name}");
        }
        assert!(["lib.rs", "pair.toml", "a"].iter().all(|name| is_ones_own(name.as_ref())));
    }

    #[test]
    fn the_nearest_name_is_the_one_that_was_meant_or_none() {
        let counters = || ["voluntary_switches", "involuntary_switches", "user_ns", "migrations"].into_iter();
        assert_eq!(nearest("voluntary", counters()), Some("voluntary_switches"));
        assert_eq!(nearest("migration", counters()), Some("migrations"));
        assert_eq!(nearest("xyz", counters()), None);
    }
}
