//! The digest of a session: what every page prints from, without the raw samples. It is made of the
//! session's bundle, and kept below `target`. Lines of JSON with sums, as in a record. First the
//! digest's own head and each record's header and end, in one frame; then each record's processes
//! in a frame of their own, so that one number needs no other record unpacked.

mod kept;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::checksum::{sha256, with_sum, without_sum};
use super::compression::{frames, pack, pack_quickly, unpack};
use super::lines::{End, Header, Line, Run};
use super::records::{RawRecord, Record};
use super::side_by_side::side_by_side;
use super::validity;

/// A frame of a digest unpacks to at most so many bytes. The longest of this book has 1.6 MB.
const MOST_FRAME_BYTES: u64 = 16 << 20;

/// A bundle unpacks to at most so many bytes. The longest of this book has 20 MB.
const MOST_BUNDLE_BYTES: u64 = 256 << 20;

/// What is in a bundle, and how it can be told from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The code that made it, by its hash: other code may make another of the same bundle.
    pub made_by: String,
    /// The SHA-256 of the bundle's file.
    pub bundle: String,
    /// Its records, in the order in which they stand in it.
    pub records: Vec<Entry>,
}

/// A record of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub chapter: String,
    pub experiment: String,
    /// How long its lines are, in bytes.
    pub bytes: u64,
    pub sha256: String,
}

/// A digest, of which the processes are still packed.
#[derive(Debug)]
pub struct Digest {
    /// What it is the digest of.
    pub head: Head,
    /// Each record's header and end, in the order of the head. Who finds a record shares its
    /// header.
    pub records: Vec<(Arc<Header>, End)>,
    packed: Vec<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Own {
    Digest(Head),
    Runs(Vec<Run>),
}

/// Packs complete records of one session, each of another experiment: the bytes of its bundle.
pub fn bundle(records: &[RawRecord]) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    records.iter().try_for_each(|record| record.write(&mut lines))?;
    pack(&lines)
}

impl Entry {
    fn of(header: &Header, lines: &[u8]) -> Self {
        let (chapter, experiment) = (header.chapter.clone(), header.experiment.clone());
        Self { chapter, experiment, bytes: lines.len() as u64, sha256: sha256(lines) }
    }

    pub fn name(&self) -> String {
        format!("{}/{}", self.chapter, self.experiment)
    }
}

/// What a bundle comes to, packed, with each of its records read in this way. All CPUs look.
fn packed(bundle: &[u8], read: fn(&str) -> Result<RawRecord>) -> Result<Vec<u8>> {
    let text = unpack(bundle, MOST_BUNDLE_BYTES)?;
    let (mut entries, mut first, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for record in side_by_side(split(&text)?, |lines| packed_record(lines, read(lines)?)) {
        let (entry, ends, own) = record?;
        entries.push(entry);
        first.extend(ends);
        runs.extend(own);
    }
    let head = Head { made_by: kept::made_by().to_owned(), bundle: sha256(bundle), records: entries };
    first.splice(..0, line(&Own::Digest(head))?.into_bytes());
    Ok([pack_quickly(&first)?, runs].concat())
}

/// Of a record's lines: what the head says of it, the lines of its header and its end, and its
/// processes, packed.
fn packed_record(lines: &str, record: RawRecord) -> Result<(Entry, Vec<u8>, Vec<u8>)> {
    let entry = Entry::of(&record.header, lines.as_bytes());
    let mut ends = Vec::new();
    Line::Header(Box::new(record.header.clone())).write(&mut ends)?;
    Line::End(Box::new(record.end.clone().context("the record is not complete")?)).write(&mut ends)?;
    Ok((entry, ends, pack_quickly(line(&Own::Runs(record.seen().runs))?.as_bytes())?))
}

fn line(own: &Own) -> Result<String> {
    Ok(with_sum(&serde_json::to_string(own)?) + "\n")
}

impl Digest {
    /// Reads the head and the headers. Whatever is not as it was written is an error.
    pub fn read(packed: &[u8]) -> Result<Self> {
        let frames = frames(packed)?;
        let (first, rest) = frames.split_first().context("it is empty")?;
        let text = unpack(first, MOST_FRAME_BYTES)?;
        let mut lines = text.lines();
        let head = read_head(lines.next().context("it is empty")?)?;
        ensure!(rest.len() == head.records.len(), "{} records, and {} have processes", head.records.len(), rest.len());
        let mut records = Vec::new();
        for entry in &head.records {
            let (header, end) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
            records.push(read_record(entry, header, end).with_context(|| entry.name())?);
        }
        ensure!(lines.next().is_none(), "more lines than it has records");
        Ok(Self { head, records, packed: rest.iter().map(|frame| frame.to_vec()).collect() })
    }

    /// Reads one record: the header and the end that are known, and its processes.
    pub fn record(&self, index: usize) -> Result<Record> {
        let (header, end) = &self.records[index];
        let text = unpack(&self.packed[index], MOST_FRAME_BYTES)?;
        let Own::Runs(mut runs) = serde_json::from_str(&without_sum(text.trim_end_matches('\n'))?)? else {
            bail!("the processes of a record are expected here");
        };
        share_parameters(&mut runs);
        let entry = &self.head.records[index];
        let mut sound = validity::Reader::new(header, &entry.chapter, &entry.experiment)?;
        runs.iter().try_for_each(|run| sound.run(run, validity::seen))?;
        Ok(Record { header: Header::clone(header), runs, end: Some(end.clone()) })
    }

    /// How long the packed processes of a record are, in bytes.
    pub fn bytes(&self, index: usize) -> u64 {
        self.packed[index].len() as u64
    }

    /// The lines of each record of the bundle, if these are its bytes.
    pub fn unpacked(&self, bundle: &[u8]) -> Result<Vec<String>> {
        let sum = sha256(bundle);
        ensure!(sum == self.head.bundle, "its SHA-256 is {sum}: it is another file than a moment ago");
        let lengths = self.head.records.iter().map(|entry| entry.bytes);
        let text = unpack(bundle, lengths.fold(0, u64::saturating_add).min(MOST_BUNDLE_BYTES))?;
        let (mut rest, mut records) = (text.as_str(), Vec::new());
        for entry in &self.head.records {
            let name = entry.name();
            let split = usize::try_from(entry.bytes).ok().and_then(|bytes| rest.split_at_checked(bytes));
            let (own, after) = split.with_context(|| format!("{name}: the bundle is shorter than the digest says"))?;
            ensure!(
                sha256(own.as_bytes()) == entry.sha256,
                "{name}: other lines than those of which this is the digest"
            );
            records.push(own.to_owned());
            rest = after;
        }
        ensure!(rest.is_empty(), "the bundle has more than the digest says");
        Ok(records)
    }

    /// What a bundle comes to, whatever is kept of it, if it holds nothing but records.
    pub fn anew(bundle: &[u8]) -> Result<Self> {
        Self::read(&packed(bundle, RawRecord::of_bundle_and_no_more)?)
    }

    /// Whether both say the same.
    pub fn check_against(&self, other: &Self) -> Result<()> {
        ensure!(self.head == other.head && self.records == other.records, "other headers");
        for (index, entry) in self.head.records.iter().enumerate() {
            ensure!(self.record(index)? == other.record(index)?, "{}: other numbers", entry.name());
        }
        Ok(())
    }
}

/// Lets processes of a cell that have the same parameters share them: of other machines, tens of
/// thousands of processes are kept in memory.
fn share_parameters(runs: &mut [Run]) {
    let mut known = BTreeMap::new();
    for run in runs {
        let Some(seen) = &mut run.observation else { continue };
        let own = known.entry(run.cell).or_insert_with(|| seen.parameters.clone());
        if *own == seen.parameters {
            seen.parameters = own.clone();
        }
    }
}

fn read_head(line: &str) -> Result<Head> {
    let Own::Digest(head) = serde_json::from_str(&without_sum(line)?)? else {
        bail!("it does not begin with the head of a digest");
    };
    Ok(head)
}

fn read_record(entry: &Entry, header: &str, end: &str) -> Result<(Arc<Header>, End)> {
    let exact = |line: &str| -> Result<Line> {
        let read = Line::read(line)?;
        let again = serde_json::to_string(&read)?;
        ensure!(without_sum(line)? == again, "it holds something that the format of digests does not have");
        Ok(read)
    };
    let (Line::Header(header), Line::End(end)) = (exact(header)?, exact(end)?) else {
        bail!("a header and an end belong here");
    };
    let sound = validity::Reader::new(&header, &entry.chapter, &entry.experiment)?;
    sound.end(&end)?;
    Ok((header.into(), *end))
}

/// The lines of each record of a bundle's text.
fn split(text: &str) -> Result<Vec<&str>> {
    let begins = text.match_indices("{\"header\":").map(|(at, _)| at);
    let starts: Vec<usize> = begins.filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n').collect();
    ensure!(starts.first() == Some(&0), "it does not begin with a record's header");
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    Ok(starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect())
}

/// The records of a bundle, each held against itself.
pub fn records_of_bundle(bundle: &[u8]) -> Result<Vec<RawRecord>> {
    side_by_side(split(&unpack(bundle, MOST_BUNDLE_BYTES)?)?, RawRecord::of_bundle_and_no_more).into_iter().collect()
}

#[cfg(test)]
pub(crate) mod tests;
