//! The page of obstacles shows messages as they are printed, so that whoever sees one finds it.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// What other people's tools print, which stands in no file of ours.
const OF_OTHERS: [&str; 4] = [
    "linker `cc` not found",
    "lock file version 4 requires `-Znext-lockfile-bump`",
    "failed to download from",
    "Could not resolve host",
];

/// The messages that the page's headings quote.
fn messages(page: &str) -> Vec<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix("## ")).filter(|heading| heading.contains('`'));
    let quoted = headings.flat_map(|heading| match heading.strip_prefix("``") {
        Some(whole) => vec![whole.strip_suffix("``").unwrap_or(whole).trim()],
        None => heading.split('`').skip(1).step_by(2).collect(),
    });
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_message_on_the_page_of_obstacles_is_one_that_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("book/src/when-it-does-not-work.md")).unwrap();
    let files = WalkDir::new(root.join("benches-src")).into_iter().filter_entry(|entry| entry.file_name() != "tests");
    let files = files.flatten().filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let code: String = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    let found = messages(&page);
    assert!(found.len() >= 10, "{found:?}");
    for message in found.iter().filter(|message| !OF_OTHERS.contains(&message.as_str())) {
        for part in message.split(" … ") {
            assert!(code.contains(part), "no code prints {part:?}");
        }
    }
    for message in OF_OTHERS {
        assert!(found.iter().any(|own| own == message), "the page no longer has {message:?}; take it out here");
    }
}
