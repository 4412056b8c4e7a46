//! What a record must be like to join those of a machine that everybody sees, whether it was
//! measured in this checkout or sent in from elsewhere.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::contributed::facts;
use super::machine::Facts;
use super::private::without_folders;
use super::records::RawRecord;

/// Whatever stands under one name is of one machine: the records themselves, each with its place,
/// and those that lie in the folder already.
pub fn of_one_machine(records: &[(String, &RawRecord)], folder: &Path) -> Result<()> {
    let Some((place, first)) = records.first() else { return Ok(()) };
    let agrees = |other: &str, machine: &Facts, cure: &str| {
        let facts = first.header.machine.differences(machine).join(", ");
        ensure!(facts.is_empty(), "{other} is of another machine than {place}: they differ in {facts}; {cure}");
        Ok(())
    };
    for (other, record) in records {
        agrees(other, &record.header.machine, "measure again what is of the machine as it was before")?;
    }
    let cure = "use another name, or remove that folder if it is this machine as it was before";
    let known = facts(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    known.map_or(Ok(()), |known| agrees(&folder.join("machine.toml").display().to_string(), &known, cure))
}

/// Which cell of a record has failures alone, and what to do about it: such a record is worth
/// nothing to anybody else.
pub fn failed(record: &RawRecord, command: &str) -> Option<String> {
    let observed = record.observed();
    let mut cells = record.header.cells.iter().enumerate();
    let (_, cell) = cells.find(|(index, _)| record.lost(&[*index]).is_some() && !observed.contains(index))?;
    Some(format!("every process of {cell} failed; see why, mend it, and run: {command}"))
}

/// Folders that not every machine has, and these names, stand in no record that everybody sees.
pub fn refuse_private(record: &RawRecord, checkout: &Path, names: &[String]) -> Result<()> {
    for text in of_others(record) {
        let without = without_folders(text, checkout);
        ensure!(without == text, "it names a folder of this machine in {text:?}; measure again");
        for name in names {
            ensure!(
                !contains_word(text, name),
                "it contains {name:?}, which is this host's or this user's name, in {text:?}. If it is a plain word \
                 there, as of a kernel's release or a CPU, \
                 export with --no-secret {name}, or with TALLY_NO_SECRET={name} in the environment; if it is the \
                 name, look for it and measure again"
            );
        }
    }
    Ok(())
}

/// What others wrote that came into a record: what failed programs said, why something is missing,
/// and what is known of the machine. All else is this book's own words and numbers, whatever a host
/// or a user is called.
fn of_others(record: &RawRecord) -> Vec<&str> {
    let facts = &record.header.machine;
    let said = record.runs.iter().filter_map(|run| run.failure.as_ref());
    let said = said.flat_map(|failure| [&failure.exit].into_iter().chain(&failure.last_lines));
    let observed = record.runs.iter().filter_map(|run| run.observation.as_ref());
    let missing = observed.flat_map(|seen| seen.unavailable.values().chain(&seen.doubts));
    let facts = facts.known.values().chain(facts.unavailable.values());
    said.chain(missing).chain(facts).chain(&record.header.revision).map(String::as_str).collect()
}

/// Whether a sign belongs to the word that stands beside it.
pub fn is_within(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Whether a word stands there by itself: the user `user` is not in `user_ns`.
fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (text[..start].chars().next_back(), text[start + word.len()..].chars().next());
        !before.is_some_and(is_within) && !after.is_some_and(is_within)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_where_it_stands_by_itself() {
        for (text, found) in
            [("user_ns", false), ("superuser", false), ("/home/user/x", true), ("user", true), ("rustc user.", true)]
        {
            assert_eq!(contains_word(text, "user"), found, "{text}");
        }
    }
}
