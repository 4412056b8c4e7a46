//! Several sessions of one experiment on one machine: the record, and beside it those that it has
//! replaced.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::lines::Header;
use super::records::Record;
use super::sources::PLAN;

/// How the names of earlier sessions end, and the second one's goes on with `-2`.
pub const EARLIER: &str = "session";

impl Header {
    /// Whether both ran the same listings, or the very same program files, on the same machine.
    /// What stands beneath the listings may have changed between them, and so may the cells that
    /// the plan asked for.
    pub fn is_comparable(&self, other: &Self) -> bool {
        let listings = |header: &Self| {
            let mut own = header.sources.own.clone();
            own.remove(PLAN);
            own
        };
        let code = |header: &Self| header.sources.code.clone().filter(|code| !code.is_empty());
        let is_same_code = code(self).is_some() && code(self) == code(other);
        self.experiment == other.experiment
            && (listings(self) == listings(other) || is_same_code || self.ran_the_files_of(other))
            && self.machine.differences(&other.machine).is_empty()
    }

    /// Whether they are sessions of one thing: comparable, with nothing changed beneath the
    /// listings either, unless that changed no program file.
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        let beneath = self.sources.beneath == other.sources.beneath;
        self.is_comparable(other) && (beneath || self.ran_the_files_of(other))
    }

    /// Whether both say which program files ran, and these are the same to the byte: whatever
    /// changed around them is not in the numbers.
    fn ran_the_files_of(&self, other: &Self) -> bool {
        self.built.is_some() && self.built == other.built
    }

    /// Whether they are two sessions of one thing, and not one that was exported twice.
    pub fn is_another_session_of(&self, other: &Self) -> bool {
        self.is_of_the_same(other) && self.before != other.before
    }
}

/// Where the earlier sessions of a record lie, in the order of their names.
pub fn earlier_paths(record: &Path) -> Result<Vec<PathBuf>> {
    let Some((folder, name)) = record.parent().zip(record.file_name()) else { return Ok(Vec::new()) };
    let begins = format!("{}.{EARLIER}", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        let rest = path.file_name().and_then(|own| own.to_str()).and_then(|own| own.strip_prefix(&begins));
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The earlier sessions that lie beside a record, on the same machine.
pub fn earlier(path: &Path, of: &Header) -> Result<Vec<Record>> {
    let mut sessions = Vec::new();
    for path in earlier_paths(path)? {
        if let Some(record) = Record::load(&path)?
            && record.header.experiment == of.experiment
            && record.header.before != of.before
            && record.header.machine.differences(&of.machine).is_empty()
        {
            sessions.push(record);
        }
    }
    Ok(sessions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{cell, end, header, reported};
    use crate::record::{Placed, Writer};

    /// Measures a session of one cell into its place.
    fn measure(folder: &Path, time: &str, listing: &str) -> PathBuf {
        let path = folder.join("switch-cost/socket.jsonl");
        let mut header = header(vec![cell("a", "free")]);
        header.before.time = time.to_owned();
        header.sources.own.insert("listing".to_owned(), listing.to_owned());
        let mut writer = Writer::create(&path, &header).unwrap();
        let run = reported(&header, 0, 0, 100.0);
        writer.run(&run).unwrap();
        let record = Record { header, runs: vec![run.into()], end: None };
        let mut end = end();
        end.after.time = "2026-11-20T23:00:00Z".to_owned();
        assert_eq!(writer.finish(&record, &end).unwrap(), Placed::Kept);
        path
    }

    fn times(path: &Path) -> Vec<String> {
        let shown = Record::load(path).unwrap().unwrap();
        let all = earlier(path, &shown.header).unwrap().into_iter().map(|record| record.header);
        all.filter(|header| header.is_another_session_of(&shown.header)).map(|header| header.before.time).collect()
    }

    #[test]
    fn a_session_that_is_replaced_by_another_of_the_same_is_kept_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = measure(folder.path(), "2026-11-20T10:00:00Z", "one");
        assert!(times(&path).is_empty());
        measure(folder.path(), "2026-11-20T11:00:00Z", "one");
        measure(folder.path(), "2026-11-20T12:00:00Z", "one");
        assert_eq!(times(&path), ["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"]);
        // Of another listing, those are no sessions of the same any more; they stay on the disk.
        measure(folder.path(), "2026-11-20T13:00:00Z", "another");
        assert!(times(&path).is_empty());
        assert_eq!(earlier_paths(&path).unwrap().len(), 2);
    }

    #[test]
    fn what_ran_the_same_files_is_of_the_same_whatever_changed_around_them() {
        let of = |listing: &str, beneath: &str, built: Option<&str>| {
            let mut header = header(vec![cell("a", "free")]);
            header.sources.own.insert("listing".to_owned(), listing.to_owned());
            header.sources.beneath.insert("harness".to_owned(), beneath.to_owned());
            header.built = built.map(|hash| [("a".to_owned(), hash.to_owned())].into());
            header
        };
        let one = of("1", "1", Some("f"));
        assert!(one.is_of_the_same(&of("2", "2", Some("f"))), "a comment may have changed");
        assert!(!one.is_of_the_same(&of("2", "1", Some("g"))) && !one.is_of_the_same(&of("2", "1", None)));
        assert!(one.is_of_the_same(&of("1", "1", Some("g"))), "files that were built elsewhere may differ");
        assert!(!of("1", "1", None).is_of_the_same(&of("2", "1", None)), "what says nothing of files says nothing");
        let other = Header { experiment: "laps".to_owned(), ..one.clone() };
        assert!(!one.is_of_the_same(&other));
    }

    #[test]
    fn names_that_only_begin_alike_are_no_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let path = measure(folder.path(), "2026-11-20T10:00:00Z", "one");
        for name in ["socket.jsonl.sessions", "socket.jsonl.failed", "socket-2.jsonl", "socket.jsonl.partial"] {
            fs::write(path.with_file_name(name), "nothing").unwrap();
        }
        assert!(earlier_paths(&path).unwrap().is_empty());
        assert!(earlier_paths(Path::new("nowhere/at.all")).unwrap().is_empty());
    }
}
