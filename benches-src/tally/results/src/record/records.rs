//! One experiment's session on one machine: JSON lines, a header first, then one observation per
//! line, at last how it ended.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::lines::*;
use super::machine::State;
use super::seen::Seen;
use super::strict::first_unknown_field;
use super::validity;
use crate::book::cell::Cell;

/// A record, with what each process's observation comes to: what is computed from, and printed.
pub type Record = RecordOf<Seen>;

/// A record as it is written down, with its raw samples.
pub type RawRecord = RecordOf<Raw>;

/// A record, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordOf<T> {
    /// What was measured, and where.
    pub header: Header,
    /// Every process of the session.
    pub runs: Vec<RunOf<T>>,
    /// How the session ended; none while it has not.
    pub end: Option<End>,
}

impl<T> RecordOf<T>
where
    RunOf<T>: From<RawRun>,
{
    /// Reads a complete record. `None` where there is none.
    pub fn load(path: &Path) -> Result<Option<Self>> {
        let record = Self::read(path, Broken::IsAnError)?;
        if let Some(record) = &record {
            ensure!(
                record.end.is_some(),
                "{}: the record is truncated: its last line does not say how the session ended",
                path.display()
            );
        }
        Ok(record)
    }

    /// Reads what an interrupted session has left; a last line that was cut off is dropped. Any
    /// other that cannot be read is an error, lest all that follows it be dropped as well.
    pub fn load_partial(path: &Path) -> Result<Option<Self>> {
        Self::read(path, Broken::MayBeTheLast)
    }

    fn read(path: &Path, broken: Broken) -> Result<Option<Self>> {
        let Some(lines) = open(path)? else { return Ok(None) };
        let (chapter, experiment) = place_of(path);
        let place = path.display();
        Ok(Some(Self::of_lines(lines.lines(), [&chapter, &experiment], &place.to_string(), broken)?))
    }

    /// Reads a whole record of this chapter and experiment from its lines; `place` is said before
    /// the number of a line that is refused.
    pub(super) fn of_text(text: &str, of: [&str; 2], place: &str) -> Result<Self> {
        let record = Self::of_lines(text.lines().map(|line| Ok(line.to_owned())), of, place, Broken::IsAnError)?;
        ensure!(record.end.is_some(), "{place}: the record is truncated: it does not say how the session ended");
        Ok(record)
    }

    fn of_lines(
        lines: impl Iterator<Item = std::io::Result<String>>,
        of: [&str; 2],
        place: &str,
        broken: Broken,
    ) -> Result<Self> {
        let mut lines = lines.enumerate().peekable();
        let Some((_, first)) = lines.next() else { bail!("{place}: the record is empty") };
        let place = |number: usize| format!("{place}, line {}", number + 1);
        let header =
            first.map_err(anyhow::Error::from).and_then(|line| parse_header(&line)).with_context(|| place(0))?;
        let mut sound = validity::Reader::new(&header, of[0], of[1]).with_context(|| place(0))?;
        let (mut runs, mut end) = (Vec::new(), None);
        while let Some((number, line)) = lines.next() {
            let may_be_cut_off = broken == Broken::MayBeTheLast && lines.peek().is_none();
            match line.map_err(anyhow::Error::from).and_then(|line| Line::read(&line)) {
                Err(_) if may_be_cut_off => break,
                Err(error) => return Err(error).with_context(|| place(number)),
                Ok(Line::Run(run)) if end.is_none() => {
                    let observed = |seen: &Raw, cell: &Cell| validity::observation(seen, cell, &header.chapter);
                    sound.run(&run, observed).with_context(|| place(number))?;
                    runs.push((*run).into());
                }
                Ok(Line::End(last)) if end.is_none() => {
                    sound.end(&last).with_context(|| place(number))?;
                    end = Some(*last);
                }
                Ok(_) => {
                    bail!("{}: after the header come runs, and at last one end; this line is neither", place(number))
                }
            }
        }
        Ok(Self { header, runs, end })
    }
}

impl Record {
    /// Reads only what was measured and where, of a record that may be long. `None` where there is
    /// none.
    pub fn load_header(path: &Path) -> Result<Option<Header>> {
        let Some(mut lines) = open(path)? else { return Ok(None) };
        let mut line = String::new();
        lines.read_line(&mut line).with_context(|| format!("cannot read {}", path.display()))?;
        let place = || format!("{}, line 1", path.display());
        let header = parse_header(line.trim_end_matches('\n')).with_context(place)?;
        let (chapter, experiment) = place_of(path);
        validity::Reader::new(&header, &chapter, &experiment).with_context(place)?;
        Ok(Some(header))
    }
}

impl RawRecord {
    /// Reads one of a bundle, which lies at no place that could say of what it is.
    pub(super) fn of_bundle(text: &str) -> Result<Self> {
        let Header { chapter, experiment, .. } = parse_header(text.lines().next().unwrap_or_default())?;
        Self::of_text(text, [&chapter, &experiment], &format!("{chapter}/{experiment}"))
    }

    /// The same of one that holds nothing but what the format of records has. To write each line
    /// again takes as long as to read it: whoever lets a record in asks for it, and pages do not.
    pub(super) fn of_bundle_and_no_more(text: &str) -> Result<Self> {
        let record = Self::of_bundle(text)?;
        let mut again = Vec::new();
        record.write(&mut again)?;
        // What is written as it stands there has nothing more; most of the time, the lines need not
        // be read a second time.
        let more = if again == text.as_bytes() { None } else { first_unknown_field(text)? };
        let Some(line) = more else { return Ok(record) };
        let Header { chapter, experiment, .. } = &record.header;
        bail!("{chapter}/{experiment}, line {line}: holds something that the format of records does not have");
    }

    /// Writes it as it would have been recorded.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        Line::Header(Box::new(self.header.clone())).write(to)?;
        for run in &self.runs {
            Line::Run(Box::new(run.clone())).write(to)?;
        }
        Line::End(Box::new(self.end.clone().context("the record is not complete")?)).write(to)
    }

    /// The same with what each observation comes to.
    pub fn seen(self) -> Record {
        Record { header: self.header, runs: self.runs.into_iter().map(Run::from).collect(), end: self.end }
    }
}

impl<T> RecordOf<T> {
    /// The rounds that were run to their end, by number, each with its runs by cell.
    pub fn complete_rounds(&self) -> Vec<(u32, Vec<&RunOf<T>>)> {
        let mut rounds = vec![vec![None; self.header.cells.len()]; self.next_round() as usize];
        for run in &self.runs {
            rounds[run.round as usize][run.cell] = Some(run);
        }
        let whole =
            rounds.into_iter().zip(0..).map(|(cells, round)| Some((round, cells.into_iter().collect::<Option<_>>()?)));
        whole.flatten().collect()
    }

    /// How long the complete rounds took, of which a session that was interrupted knows as much as
    /// one that was not. What an older tally ran, which did not note it down, counts as nothing.
    pub fn rounds_took(&self) -> Duration {
        let rounds = self.complete_rounds();
        let each = rounds.iter().flat_map(|(_, runs)| runs).filter_map(|run| run.took_ms);
        Duration::from_millis(each.sum())
    }

    /// The number that the next round gets.
    pub fn next_round(&self) -> u32 {
        self.runs.iter().map(|run| run.round + 1).max().unwrap_or(0)
    }

    /// The day on which it was measured, or the first and the last of a session that was
    /// interrupted.
    pub fn day(&self) -> String {
        let resumed = self.resumed().last().map(|state| state.day());
        match resumed.filter(|last| *last != self.header.day()) {
            Some(last) => format!("{} to {last}", self.header.day()),
            None => self.header.day().to_owned(),
        }
    }

    /// The machine's state each time that an interrupted session was gone on with.
    pub fn resumed(&self) -> impl Iterator<Item = &State> {
        self.runs.iter().filter_map(|run| run.resumed.as_ref())
    }

    /// How many of its processes failed.
    pub fn failures(&self) -> usize {
        self.runs.iter().filter(|run| run.failure.is_some()).count()
    }

    /// The cells of which any process reported something, were it that there is nothing to report
    /// here.
    pub fn observed(&self) -> BTreeSet<usize> {
        self.runs.iter().filter(|run| run.observation.is_some()).map(|run| run.cell).collect()
    }

    /// Of the processes of these cells, those that failed; nothing where none did.
    pub fn lost(&self, cells: &[usize]) -> Option<Lost> {
        let of: Vec<&RunOf<T>> = self.runs.iter().filter(|run| cells.contains(&run.cell)).collect();
        let mut ends = BTreeMap::new();
        for failure in of.iter().filter_map(|run| run.failure.as_ref()) {
            *ends.entry(failure.exit.as_str()).or_insert(0_usize) += 1;
        }
        let failed = ends.values().sum();
        let how = ends.iter().map(|(exit, times)| format!("{exit} ({times})")).collect::<Vec<_>>().join(", ");
        (failed > 0).then_some(Lost { failed, of: of.len(), how })
    }

    /// The same of one cell.
    pub fn lost_of(&self, cell: &Cell) -> Option<Lost> {
        self.lost(&[self.header.cells.iter().position(|own| own == cell)?])
    }

    /// Every cell of which processes failed, in a sentence each.
    pub fn losses(&self) -> Vec<String> {
        let say = |cell: &Cell| Some(format!("{cell}: {}", self.lost_of(cell)?.words()));
        self.header.cells.iter().filter_map(say).collect()
    }

    /// What is lost if this takes the place of another record: nothing, or why that one is to be
    /// kept.
    pub fn worse_than(&self, other: &Self) -> Option<String> {
        let measured = |record: &Self| -> HashSet<Cell> {
            record.observed().into_iter().map(|cell| record.header.cells[cell].clone()).collect()
        };
        let (here, there) = (measured(self), measured(other));
        if let Some(cell) = self.header.cells.iter().find(|cell| there.contains(cell) && !here.contains(cell)) {
            return Some(format!("every process of {cell} failed, of which there are numbers already"));
        }
        let alike = self.header.sources == other.header.sources && self.header.effort <= other.header.effort;
        let (here, there) = (self.failures(), other.failures());
        (alike && here > there)
            .then(|| format!("{here} processes failed, and {there} in the one that is there already"))
    }
}

/// Processes that ended without an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    pub failed: usize,
    pub of: usize,
    /// How they ended, each way with how many did.
    pub how: String,
}

impl Lost {
    pub fn short(&self) -> String {
        format!("{} of {} failed", self.failed, self.of)
    }

    pub fn words(&self) -> String {
        format!("{} of {} processes failed: {}", self.failed, self.of, self.how)
    }
}

#[derive(PartialEq, Clone, Copy)]
enum Broken {
    IsAnError,
    MayBeTheLast,
}

/// Opens a record, however much of it there is. What is no file has no end, and what is too long is
/// no record.
fn open(path: &Path) -> Result<Option<impl BufRead>> {
    use validity::MOST_BYTES;
    let metadata = match fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        metadata => metadata.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let (own, path, most) = (path, path.display(), MOST_BYTES >> 20);
    ensure!(metadata.is_file(), "{path} is no file, and so no record");
    ensure!(metadata.len() <= MOST_BYTES, "{path} has more than {most} MiB, which no record has");
    let file = File::open(own).with_context(|| format!("cannot read {path}"))?;
    Ok(Some(BufReader::new(file.take(MOST_BYTES))))
}

/// The chapter and the experiment of which a record at this place is one.
fn place_of(path: &Path) -> (String, String) {
    let word = |part: Option<&std::ffi::OsStr>| part.map_or(String::new(), |part| part.to_string_lossy().into_owned());
    let (chapter, file) = (word(path.parent().and_then(Path::file_name)), word(path.file_name()));
    let experiment = file.split('.').next().unwrap_or_default().to_owned();
    (chapter, experiment)
}

/// Reads the first line of a record.
fn parse_header(line: &str) -> Result<Header> {
    is_known_format(line)?;
    match Line::read(line)? {
        Line::Header(header) => Ok(*header),
        _ => bail!("a record begins with its header"),
    }
}

/// Another format than tally knows is refused before its shape is taken for damage.
fn is_known_format(header: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Versioned {
        header: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let versioned: Result<Versioned, _> = serde_json::from_str(header);
    let format = versioned.map_or(FORMAT, |own| own.header.format);
    ensure!(
        format == FORMAT,
        "the record has format {format}, and this tally reads format {FORMAT}; measure again to replace it"
    );
    Ok(())
}

#[cfg(test)]
mod tests;
