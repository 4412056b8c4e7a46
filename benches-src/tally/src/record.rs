//! One experiment's session on one machine: JSON lines, a header first, then one observation per line, at last how it ended.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use observation::{Histogram, Measure, Observation, Window};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cell::Cell;
use crate::columns;
use crate::machine::{Facts, State};
use crate::sound;
use crate::sources::Sources;

/// The version of the format that is written. In format 1, samples are a list; in format 2 they are columns.
pub const FORMAT: u32 = 2;

/// The oldest version that is read as well; others are refused, with the way out.
const OLDEST: u32 = 1;

/// How much was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// One round of a few laps: shows that everything works; no page prints its figures as results
    Test,
    /// Six rounds of the quick grid
    Quick,
    /// Twenty rounds of the full grid
    Full,
}

impl Effort {
    /// As it is set and printed.
    pub fn word(self) -> &'static str {
        match self {
            Effort::Test => "test",
            Effort::Quick => "quick",
            Effort::Full => "full",
        }
    }
}

/// A line of a record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// What was about to be measured, and where.
    Header(Box<Header>),
    /// One process.
    Run(Box<Run>),
    /// How the session ended.
    End(End),
}

impl Line {
    /// Appends it at once, so that what is cut off is the end of one line.
    fn write(&self, to: &mut impl Write) -> Result<()> {
        let text = serde_json::to_string(self)? + "\n";
        Ok(to.write_all(text.as_bytes())?)
    }
}

impl Line {
    /// What would be written to say this, with samples as they were written there: as a list, in format 1.
    pub fn as_written(&self, before: &serde_json::Value) -> Result<serde_json::Value> {
        let mut again = serde_json::to_value(self)?;
        if let Line::Run(run) = self
            && let Some(observation) = &run.observation
            && before.pointer("/run/observation/samples").is_some_and(serde_json::Value::is_array)
        {
            again["run"]["observation"]["samples"] = serde_json::to_value(&observation.samples)?;
        }
        Ok(again)
    }
}

/// What was about to be measured, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// See [`FORMAT`].
    pub format: u32,
    /// The chapter.
    pub chapter: String,
    /// The experiment.
    pub experiment: String,
    /// How much was to be measured.
    pub effort: Effort,
    /// Of the order of cells within rounds.
    pub seed: u64,
    /// The cells of every round.
    pub cells: Vec<Cell>,
    /// Hashes of what was measured.
    pub sources: Sources,
    /// The revision of the checkout, with `+` where files differed from it.
    pub revision: Option<String>,
    /// The machine.
    pub machine: Facts,
    /// The machine's state before the first round.
    pub before: State,
}

impl Header {
    /// The day on which it was begun.
    pub fn day(&self) -> &str {
        self.before.day()
    }
}

/// The days on which these were measured, from the first to the last.
pub fn days<'a>(records: impl IntoIterator<Item = &'a Header>) -> String {
    let days: BTreeSet<&str> = records.into_iter().map(Header::day).collect();
    match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.copied().unwrap_or_default().to_owned(),
    }
}

/// The efforts with which they were measured. A quick build may have some records that are full: then each with how many it has.
pub fn efforts<'a>(records: impl IntoIterator<Item = &'a Header>) -> String {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record.effort).or_insert(0) += 1;
    }
    match Vec::from_iter(counts)[..] {
        [(effort, _)] => effort.word().to_owned(),
        ref several => {
            let each = several.iter().rev().map(|(effort, count)| {
                let experiments = if *count == 1 { "experiment" } else { "experiments" };
                format!("{} ({count} {experiments})", effort.word())
            });
            each.collect::<Vec<_>>().join(" and ")
        }
    }
}

/// Words, each once, in order, with commas.
pub fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// One process: an observation or how it failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Counted from 0. A round that was interrupted keeps its number and is followed by a new one.
    pub round: u32,
    /// Index into the header's cells.
    pub cell: usize,
    /// Bytes of padding in the environment: they move the stack, and vary from round to round.
    pub environment_bytes: usize,
    /// The order of its functions in memory, where the program was linked anew for this round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_order: Option<u32>,
    /// How long it took in milliseconds, with what counts or spins beside it. Records that were made before this was noted down lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// How long a line of memory took from the first CPU that it might use to the second, right before it started, in nanoseconds; see
    /// [`crate::core_to_core`]. Nothing where there is no second, and in records that were made before this was noted down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_to_core_ns: Option<u64>,
    /// The machine's state before it, where it is the first after an interruption of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<State>,
    /// What the process reported.
    #[serde(default, with = "kept", skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// Or how it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// An observation as a record keeps it: as it was printed, but for its samples, which are [columns].
mod kept {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(remote = "Observation")]
    struct InColumns {
        program: String,
        parameters: BTreeMap<String, serde_json::Value>,
        placement: String,
        #[serde(default, with = "columns", skip_serializing_if = "Vec::is_empty")]
        samples: Vec<Window>,
        #[serde(default)]
        measures: BTreeMap<String, Measure>,
        #[serde(default)]
        histograms: BTreeMap<String, Histogram>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_window: Option<Window>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole_run: Option<Window>,
        #[serde(default)]
        unavailable: BTreeMap<String, String>,
        #[serde(default)]
        doubts: Vec<String>,
    }

    pub fn serialize<S: Serializer>(observation: &Option<Observation>, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Kept<'a>(#[serde(with = "InColumns")] &'a Observation);
        observation.as_ref().map(Kept).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Observation>, D::Error> {
        #[derive(Deserialize)]
        struct Kept(#[serde(with = "InColumns")] Observation);
        Ok(Option::<Kept>::deserialize(deserializer)?.map(|Kept(observation)| observation))
    }
}

/// How a process failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `exit status 1`, `signal 9`, `no answer within 60 s`, …
    pub exit: String,
    /// The last lines it wrote to standard error.
    pub last_lines: Vec<String>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The machine's state after the last round.
    pub after: State,
    /// Half the width of the headline's interval over its median, if it could be computed.
    pub headline_half_width: Option<f64>,
    /// What that was to be at most.
    pub target: f64,
    /// Whether the rounds were doubled because the target was missed at the declared look.
    pub doubled: bool,
}

/// A record, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What was measured, and where.
    pub header: Header,
    /// Every process of the session.
    pub runs: Vec<Run>,
    /// How the session ended; none while it has not.
    pub end: Option<End>,
}

impl Record {
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

    /// Reads only what was measured and where, of a record that may be long. `None` where there is none.
    pub fn load_header(path: &Path) -> Result<Option<Header>> {
        let Some(mut lines) = open(path)? else { return Ok(None) };
        let mut line = String::new();
        lines.read_line(&mut line).with_context(|| format!("cannot read {}", path.display()))?;
        let header = match parse(0, &line).with_context(|| format!("{}, line 1", path.display()))? {
            Line::Header(header) => *header,
            _ => bail!("{}: a record begins with its header", path.display()),
        };
        reader(&header, path)?;
        Ok(Some(header))
    }

    /// Reads what an interrupted session has left; a last line that was cut off is dropped. Any other that cannot be read is an error, lest
    /// all that follows it be dropped as well.
    pub fn load_partial(path: &Path) -> Result<Option<Self>> {
        Self::read(path, Broken::MayBeTheLast)
    }

    fn read(path: &Path, broken: Broken) -> Result<Option<Self>> {
        let Some(lines) = open(path)? else { return Ok(None) };
        let mut lines = lines.lines().enumerate().peekable();
        let place = |number: usize| format!("{}, line {}", path.display(), number + 1);
        let Some((_, first)) = lines.next() else { bail!("{}: the record is empty", path.display()) };
        let header =
            match first.map_err(anyhow::Error::from).and_then(|line| parse(0, &line)).with_context(|| place(0))? {
                Line::Header(header) => *header,
                _ => bail!("{}: this line does not belong here", place(0)),
            };
        let mut sound = reader(&header, path)?;
        let (mut runs, mut end) = (Vec::new(), None);
        while let Some((number, line)) = lines.next() {
            let may_be_cut_off = broken == Broken::MayBeTheLast && lines.peek().is_none();
            match line.map_err(anyhow::Error::from).and_then(|line| parse(number, &line)) {
                Err(_) if may_be_cut_off => break,
                Err(error) => return Err(error).with_context(|| place(number)),
                Ok(Line::Run(run)) if end.is_none() => {
                    sound.run(&run).with_context(|| place(number))?;
                    runs.push(*run);
                }
                Ok(Line::End(last)) if end.is_none() => {
                    sound.end(&last).with_context(|| place(number))?;
                    end = Some(last);
                }
                Ok(_) => bail!("{}: this line does not belong here", place(number)),
            }
        }
        Ok(Some(Self { header, runs, end }))
    }

    /// Writes it as it would have been recorded.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        Line::Header(Box::new(self.header.clone())).write(to)?;
        for run in &self.runs {
            Line::Run(Box::new(run.clone())).write(to)?;
        }
        Line::End(self.end.clone().context("the record is not complete")?).write(to)
    }

    /// The rounds that were run to their end, by number, each with its runs by cell.
    pub fn complete_rounds(&self) -> Vec<(u32, Vec<&Run>)> {
        let mut rounds: BTreeMap<u32, Vec<Option<&Run>>> = BTreeMap::new();
        for run in &self.runs {
            let cells = rounds.entry(run.round).or_insert_with(|| vec![None; self.header.cells.len()]);
            cells[run.cell] = Some(run);
        }
        let whole = rounds.into_iter().map(|(number, cells)| Some((number, cells.into_iter().collect::<Option<_>>()?)));
        whole.flatten().collect()
    }

    /// How long the complete rounds took, of which a session that was interrupted knows as much as one that was not. What an older tally
    /// ran, which did not note it down, counts as nothing.
    pub fn rounds_took(&self) -> Duration {
        let rounds = self.complete_rounds();
        let each = rounds.iter().flat_map(|(_, runs)| runs).filter_map(|run| run.took_ms);
        Duration::from_millis(each.sum())
    }

    /// The number that the next round gets.
    pub fn next_round(&self) -> u32 {
        self.runs.iter().map(|run| run.round + 1).max().unwrap_or(0)
    }

    /// The day on which it was measured, or the first and the last of a session that was interrupted.
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

    /// The cells of which any process reported something, were it that there is nothing to report here.
    pub fn observed(&self) -> BTreeSet<usize> {
        self.runs.iter().filter(|run| run.observation.is_some()).map(|run| run.cell).collect()
    }

    /// Of the processes of these cells, those that failed; nothing where none did.
    pub fn lost(&self, cells: &[usize]) -> Option<Lost> {
        let of: Vec<&Run> = self.runs.iter().filter(|run| cells.contains(&run.cell)).collect();
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

    /// What is lost if this takes the place of another record: nothing, or why that one is to be kept.
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
    /// So many.
    pub failed: usize,
    /// Of so many.
    pub of: usize,
    /// How they ended, each way with how many did.
    pub how: String,
}

impl Lost {
    /// In a few words.
    pub fn short(&self) -> String {
        format!("{} of {} failed", self.failed, self.of)
    }

    /// In a sentence.
    pub fn words(&self) -> String {
        format!("{} of {} processes failed: {}", self.failed, self.of, self.how)
    }
}

#[derive(PartialEq, Clone, Copy)]
enum Broken {
    IsAnError,
    MayBeTheLast,
}

/// Opens a record, however much of it there is. What is no file has no end, and what is too long is no record.
fn open(path: &Path) -> Result<Option<impl BufRead>> {
    use sound::MOST_BYTES;
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

/// What holds the lines of a record against its header, and its header against where it lies.
fn reader<'a>(header: &'a Header, path: &Path) -> Result<sound::Reader<'a>> {
    let word = |part: Option<&std::ffi::OsStr>| part.map_or(String::new(), |part| part.to_string_lossy().into_owned());
    let (chapter, file) = (word(path.parent().and_then(Path::file_name)), word(path.file_name()));
    let experiment = file.split('.').next().unwrap_or_default();
    sound::Reader::new(header, &chapter, experiment).with_context(|| format!("{}, line 1", path.display()))
}

/// Reads a line, counted from 0.
fn parse(number: usize, line: &str) -> Result<Line> {
    if number == 0 {
        check_version(line)?;
    }
    Ok(serde_json::from_str(line)?)
}

/// Refuses another version before its shape is taken for damage.
fn check_version(header: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Versioned {
        header: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let versioned: Result<Versioned, _> = serde_json::from_str(header);
    if let Ok(Versioned { header: Version { format } }) = versioned {
        ensure!(
            (OLDEST..=FORMAT).contains(&format),
            "the record has format {format}, and this tally reads formats {OLDEST} to {FORMAT}; measure again to replace it"
        );
    }
    Ok(())
}

/// Writes a session beside its final place, line by line: what is written stays when this process is killed. [`Writer::finish`] sees to it that
/// all is on the disk, and moves it to its place.
pub struct Writer {
    file: File,
    partial: PathBuf,
    path: PathBuf,
}

/// Where a finished session has come to lie.
#[derive(Debug, PartialEq)]
pub enum Placed {
    /// In the record's place.
    Kept,
    /// Beside it, and why.
    Aside(PathBuf, String),
}

impl Writer {
    /// Where an unfinished session of a record lies.
    pub fn partial(path: &Path) -> PathBuf {
        path.with_extension("jsonl.partial")
    }

    /// Begins a session.
    pub fn create(path: &Path, header: &Header) -> Result<Self> {
        sound::date(&header.before.time).context("this machine's clock is not set; set it, and measure then")?;
        let partial = Self::partial(path);
        let folder = path.parent().expect("a record lies in a folder");
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}; is it writable, and is the disk full?", folder.display()))?;
        let file = File::create(&partial).with_context(|| cannot_write(&partial))?;
        let mut writer = Self { file, partial, path: path.to_owned() };
        writer.line(&Line::Header(Box::new(header.clone())))?;
        Ok(writer)
    }

    /// Goes on with a session; what was cut off in the middle of a line is cut off altogether.
    pub fn resume(path: &Path, so_far: &Record) -> Result<Self> {
        let partial = Self::partial(path);
        let mut file = File::options().read(true).write(true).open(&partial).with_context(|| cannot_write(&partial))?;
        let mut reader = BufReader::new(&mut file);
        let (mut length, mut line) = (0, Vec::new());
        for _ in 0..=so_far.runs.len() {
            line.clear();
            length += reader.read_until(b'\n', &mut line)?;
        }
        file.set_len(length as u64).with_context(|| cannot_write(&partial))?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))?;
        if !line.ends_with(b"\n") {
            // Nothing but the end of its last line was cut off.
            file.write_all(b"\n").with_context(|| cannot_write(&partial))?;
        }
        Ok(Self { file, partial, path: path.to_owned() })
    }

    /// Appends one run.
    pub fn run(&mut self, run: &Run) -> Result<()> {
        self.line(&Line::Run(Box::new(run.clone())))
    }

    /// Ends the session, of which this is the record but for its end. It replaces the old one in one step, unless that is better; then it is put
    /// beside it. One that was measured with more effort is put aside and not lost.
    pub fn finish(mut self, record: &Record, end: &End) -> Result<Placed> {
        self.line(&Line::End(end.clone()))?;
        self.file.sync_all().with_context(|| cannot_write(&self.partial))?;
        if let Ok(Some(old)) = Record::load(&self.path) {
            if let Some(why) = record.worse_than(&old) {
                return Ok(Placed::Aside(put_aside(&self.partial, &self.path, "failed")?, why));
            }
            if old.header.effort > record.header.effort {
                keep_beside(&self.path, "replaced")?;
            }
        }
        fs::rename(&self.partial, &self.path).with_context(|| cannot_write(&self.path))?;
        Ok(Placed::Kept)
    }

    fn line(&mut self, line: &Line) -> Result<()> {
        line.write(&mut self.file).with_context(|| cannot_write(&self.partial))
    }
}

/// Renames a file so that a record can take its place, as `.jsonl.<word>` or with a number where there is one already: nothing is lost.
pub fn put_aside(file: &Path, record: &Path, word: &str) -> Result<PathBuf> {
    let aside = aside(record, word);
    fs::rename(file, &aside).with_context(|| format!("cannot put {} aside", file.display()))?;
    Ok(aside)
}

/// Keeps a record that another is about to replace in one step.
fn keep_beside(record: &Path, word: &str) -> Result<()> {
    let aside = aside(record, word);
    // Some file systems have no links.
    let kept = fs::hard_link(record, &aside).or_else(|_| fs::copy(record, &aside).map(drop));
    kept.with_context(|| format!("cannot keep {} as {}", record.display(), aside.display()))
}

/// A name beside a record that nothing has yet.
fn aside(record: &Path, word: &str) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => record.with_extension(format!("jsonl.{word}")),
        _ => record.with_extension(format!("jsonl.{word}-{number}")),
    };
    (1..).map(numbered).find(|path| !path.exists()).expect("numbers do not end")
}

fn cannot_write(path: &Path) -> String {
    format!(
        "cannot write {}; what was measured so far is kept. Make room or make it writable, and run again to go on",
        path.display()
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A cell for tests.
    pub fn cell(program: &str, placement: &str) -> Cell {
        Cell {
            program: program.to_owned(),
            parameters: BTreeMap::from([("hops".to_owned(), json!(500))]),
            placement: placement.to_owned(),
            condition: None,
        }
    }

    /// A header for tests.
    pub fn header(cells: Vec<Cell>) -> Header {
        Header {
            format: FORMAT,
            chapter: "switch-cost".to_owned(),
            experiment: "socket".to_owned(),
            effort: Effort::Quick,
            seed: 1,
            cells,
            sources: Sources::default(),
            revision: None,
            machine: Facts::default(),
            before: State { time: "2026-11-20T10:00:00Z".to_owned(), ..State::default() },
        }
    }

    /// An end for tests.
    pub fn end() -> End {
        let after = State { time: "2026-11-20T10:05:00Z".to_owned(), ..State::default() };
        End { after, headline_half_width: Some(0.01), target: 0.05, doubled: false }
    }

    /// A run whose every operation took this long.
    pub fn run(round: u32, cell: usize, ns_per_operation: f64) -> Run {
        let window = |operations: u64| observation::Window {
            operations,
            elapsed_ns: (ns_per_operation * operations as f64) as u64,
            counters: BTreeMap::from([("voluntary_switches".to_owned(), operations)]),
        };
        let observation = Observation { samples: vec![window(1000); 3], ..Observation::default() };
        Run {
            round,
            cell,
            environment_bytes: 0,
            link_order: None,
            took_ms: None,
            core_to_core_ns: None,
            resumed: None,
            observation: Some(observation),
            failure: None,
        }
    }

    /// The same as its cell's program would report it.
    fn reported(header: &Header, round: u32, cell: usize, ns_per_operation: f64) -> Run {
        let mut run = run(round, cell, ns_per_operation);
        let (seen, own) = (run.observation.as_mut().unwrap(), &header.cells[cell]);
        seen.program = format!("{}/{}", header.chapter, own.program);
        (seen.parameters, seen.placement) = (own.parameters.clone(), own.placement.clone());
        run
    }

    /// A record of two cells in which these runs failed; where it was placed.
    fn session(folder: &Path, effort: Effort, failed: &[(u32, usize)]) -> Placed {
        let path = folder.join("switch-cost/socket.jsonl");
        let header = Header { effort, ..header(vec![cell("x", "free"), cell("y", "free")]) };
        let mut writer = Writer::create(&path, &header).unwrap();
        let mut record = Record { header, runs: Vec::new(), end: None };
        for (round, index) in [(0, 0), (0, 1), (1, 0), (2, 1), (2, 0)] {
            let mut run = reported(&record.header, round, index, 10.0);
            if failed.contains(&(round, index)) {
                run.observation = None;
                run.failure = Some(Failure { exit: "ended by signal 9".to_owned(), last_lines: Vec::new() });
            }
            writer.run(&run).unwrap();
            record.runs.push(run);
        }
        writer.finish(&record, &end()).unwrap()
    }

    fn written(folder: &Path) -> PathBuf {
        assert_eq!(session(folder, Effort::Quick, &[]), Placed::Kept);
        folder.join("switch-cost/socket.jsonl")
    }

    #[test]
    fn a_record_is_never_replaced_by_one_that_is_worse() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let good = fs::read_to_string(&path).unwrap();
        let all = [(0, 0), (0, 1), (1, 0), (2, 1), (2, 0)];
        for (failed, why) in [
            (&all[..], "every process of x[hops=500, free] failed"),
            (&[(0, 1), (2, 1)], "every process of y[hops=500, free] failed"),
            (&[(0, 1)], "1 processes failed, and 0"),
        ] {
            let Placed::Aside(aside, reason) = session(folder.path(), Effort::Quick, failed) else { panic!("{why}") };
            assert!(reason.contains(why), "{reason}");
            assert_eq!(fs::read_to_string(&path).unwrap(), good);
            assert_eq!(Record::load(&aside.with_file_name("socket.jsonl")).unwrap().unwrap().failures(), 0);
            assert!(fs::read_to_string(aside).unwrap().contains("ended by signal 9"), "nor is what was measured lost");
        }
        // What was measured with more effort takes the place, and what takes its place again leaves it beside.
        assert_eq!(session(folder.path(), Effort::Full, &[]), Placed::Kept);
        assert_eq!(session(folder.path(), Effort::Quick, &[]), Placed::Kept);
        assert!(fs::read_to_string(path.with_extension("jsonl.replaced")).unwrap().contains("\"full\""));
    }

    #[test]
    fn what_failed_is_counted_with_how() {
        let folder = tempfile::tempdir().unwrap();
        session(folder.path(), Effort::Quick, &[(0, 1), (2, 1)]);
        let record = Record::load(&folder.path().join("switch-cost/socket.jsonl")).unwrap().unwrap();
        let lost = record.lost(&[0, 1]).unwrap();
        assert_eq!(lost.words(), "2 of 5 processes failed: ended by signal 9 (2)");
        assert_eq!((record.lost(&[0]), record.failures(), record.observed()), (None, 2, BTreeSet::from([0])));
    }

    #[test]
    fn a_record_that_contradicts_itself_is_refused_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let good = fs::read_to_string(&path).unwrap();
        for (from, to, line, reason) in [
            ("\"chapter\":\"switch-cost\"", "\"chapter\":\"memory\"", 1, "memory/socket"),
            ("\"experiment\":\"socket\"", "\"experiment\":\"laps\"", 1, "switch-cost/laps"),
            ("2026-11-20T10:00:00Z", "2099-11-20T10:00:00Z", 1, "2099"),
            ("2026-11-20T10:00:00Z", "", 1, "no date"),
            ("2026-11-20T10:05:00Z", "2026-11-19T10:05:00Z", 7, "ended before it began"),
            ("\"program\":\"y\"", "\"program\":\"x\"", 1, "twice"),
            ("switch-cost/x", "switch-cost/y", 2, "stands for x[hops=500, free]"),
            ("\"placement\":\"free\",\"samples\"", "\"placement\":\"one-cpu\",\"samples\"", 2, "stands for x"),
            ("\"round\":1", "\"round\":0", 4, "a second run of x"),
            ("\"operations\":[1000", "\"operations\":[0", 2, "without any operation"),
            ("\"elapsed_ns\":[10000", "\"elapsed_ns\":[0", 2, "or time"),
            ("\"elapsed_ns\":[10000", "\"elapsed_ns\":[18446744073709551615", 2, "longer than a day"),
            ("\"voluntary_switches\":[1000", "\"voluntary_switches\":[18446744073709551615", 2, "voluntary_switches"),
            ("\"measures\":{}", "\"measures\":{\"rate_ns\":{\"unit\":\"ns\",\"values\":[-1.0]}}", 2, "below 0"),
            ("\"measures\":{}", "\"measures\":{\"a\":{\"unit\":\"1\",\"values\":[1e300]}}", 2, "the measure a"),
            (
                "\"measures\":{}",
                "\"measures\":{\"a\":{\"unit\":\"B\",\"values\":[1.0,2.0]}}",
                2,
                "2 values for 1 counts",
            ),
            (
                "\"measures\":{}",
                "\"measures\":{\"held\":{\"unit\":\"1\",\"values\":[1.0,2.0,3.0]},\"a\":{\"unit\":\"B\",\"values\":[1.0,2.0]}}",
                2,
                "2 values for 3 counts",
            ),
            (
                "\"measures\":{}",
                "\"measures\":{\"held\":{\"unit\":\"1\",\"values\":[1.0,1.0]}}",
                2,
                "the same count twice",
            ),
            (
                "\"histograms\":{}",
                "\"histograms\":{\"lap\":{\"unit\":\"ns\",\"buckets\":[[9,1],[8,1]]}}",
                2,
                "follow one another",
            ),
            ("\"headline_half_width\":0.01", "\"headline_half_width\":-1.0", 7, "below 0"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from} is not in {good}");
            fs::write(&path, bad).unwrap();
            let error = format!("{:#}", Record::load(&path).unwrap_err());
            assert!(
                error.contains(&format!("socket.jsonl, line {line}: ")) && error.contains(reason),
                "{from} → {to}: {error}"
            );
        }
        fs::write(&path, &good).unwrap();
        assert!(Record::load(&path).is_ok(), "and nothing else is");
    }

    #[test]
    fn what_is_no_file_or_has_no_end_is_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket.jsonl");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(Record::load(&path).unwrap_err().to_string().contains("is no file"));
        assert!(Record::load_header(&path).unwrap_err().to_string().contains("is no file"));
        fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(sound::MOST_BYTES + 1).unwrap();
        assert!(Record::load(&path).unwrap_err().to_string().contains("64 MiB"));
    }

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::load(&written(folder.path())).unwrap().unwrap();
        assert_eq!(record.runs.len(), 5);
        assert_eq!(record.end, Some(end()));
        assert_eq!(record.header, header(vec![cell("x", "free"), cell("y", "free")]));
        let complete: Vec<u32> = record.complete_rounds().iter().map(|(round, _)| *round).collect();
        assert_eq!(complete, [0, 2], "round 1 lacks a cell");
        assert_eq!(record.next_round(), 3);
        assert_eq!(record.day(), "2026-11-20");
    }

    #[test]
    fn the_time_of_rounds_is_that_of_complete_ones_and_older_runs_have_none() {
        let timed = |round, cell, took_ms| Run { took_ms, ..run(round, cell, 10.0) };
        let runs = vec![
            timed(0, 0, None),
            timed(0, 1, Some(30)),
            timed(1, 0, Some(500)),
            timed(2, 1, Some(7)),
            timed(2, 0, Some(5)),
        ];
        let record = Record { header: header(vec![cell("x", "free"), cell("y", "free")]), runs, end: None };
        assert_eq!(record.rounds_took(), Duration::from_millis(42), "round 1 lacks a cell");
        let older = serde_json::to_value(Line::Run(Box::new(run(0, 0, 10.0)))).unwrap();
        assert!(older["run"].get("took_ms").is_none(), "what is not known is not written: {older}");
        assert!(matches!(serde_json::from_value(older).unwrap(), Line::Run(read) if read.took_ms.is_none()));
    }

    #[test]
    fn days_and_efforts_of_several_records_are_said_once() {
        let of = |day: &str, effort| {
            let before = State { time: format!("{day}T10:00:00Z"), ..State::default() };
            Header { effort, before, ..header(Vec::new()) }
        };
        let (full, quick) = (of("2026-11-20", Effort::Full), of("2026-11-21", Effort::Quick));
        let one = [quick.clone()];
        assert_eq!((days(&one), efforts(&one)), ("2026-11-21".into(), "quick".into()));
        let several = [full.clone(), quick, full];
        assert_eq!(days(&several), "2026-11-20 to 2026-11-21");
        assert_eq!(efforts(&several), "full (2 experiments) and quick (1 experiment)");
        assert_eq!((days(&[]), efforts(&[])), (String::new(), String::new()));
        assert_eq!(listed(["b", "a", "b"].into_iter()), "a, b");
    }

    #[test]
    fn a_record_of_format_1_is_read_and_holds_nothing_more_than_it_says() {
        let run = run(0, 0, 10.0);
        let mut line = serde_json::to_value(Line::Run(Box::new(run.clone()))).unwrap();
        let in_columns = line.clone();
        line["run"]["observation"]["samples"] = json!(run.observation.as_ref().unwrap().samples);
        assert_ne!(line, in_columns);
        for mut written in [line, in_columns] {
            let read: Line = serde_json::from_value(written.clone()).unwrap();
            assert!(matches!(&read, Line::Run(read) if **read == run));
            assert_eq!(read.as_written(&written).unwrap(), written);
            written["run"]["observation"]["diary"] = "dear".into();
            assert_ne!(read.as_written(&written).unwrap(), written);
        }
    }

    #[test]
    fn a_truncated_record_is_an_error_that_names_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 40]).unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        assert!(error.contains("socket.jsonl, line 7"), "{error}");
        let lines: Vec<&str> = text.lines().collect();
        fs::write(&path, lines[..6].join("\n") + "\n").unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        assert!(error.contains("truncated"), "{error}");
    }

    #[test]
    fn corrupt_and_older_records_are_errors_with_a_cure() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"format\":2", "\"format\":0", 1)).unwrap();
        let error = format!("{:#}", Record::load(&path).unwrap_err());
        assert!(error.contains("format 0") && error.contains("measure again"), "{error}");
        fs::write(&path, "nonsense\n").unwrap();
        assert!(format!("{:#}", Record::load(&path).unwrap_err()).contains("line 1"));
        fs::write(&path, "").unwrap();
        assert!(Record::load(&path).unwrap_err().to_string().contains("empty"));
        fs::write(&path, text.replacen("\"cell\":1", "\"cell\":9", 1)).unwrap();
        assert!(format!("{:#}", Record::load(&path).unwrap_err()).contains("header lacks"));
        assert_eq!(Record::load(&folder.path().join("none.jsonl")).unwrap(), None);
    }

    #[test]
    fn only_the_last_line_of_an_unfinished_session_may_be_broken() {
        let folder = tempfile::tempdir().unwrap();
        let partial = Writer::partial(&written(folder.path()));
        let whole = fs::read_to_string(folder.path().join("switch-cost/socket.jsonl")).unwrap();
        let broken = whole.replacen("\"round\":1", "\"round\":?", 1);
        fs::write(&partial, &broken).unwrap();
        let error = format!("{:#}", Record::load_partial(&partial).unwrap_err());
        assert!(error.contains("socket.jsonl.partial, line 4"), "{error}");
    }

    #[test]
    fn a_session_goes_on_after_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("switch-cost/socket.jsonl");
        let header = header(vec![cell("x", "free")]);
        let mut writer = Writer::create(&path, &header).unwrap();
        writer.run(&reported(&header, 0, 0, 10.0)).unwrap();
        drop(writer);
        let partial = Writer::partial(&path);
        let whole = fs::read_to_string(&partial).unwrap();
        for cut_off in [whole.clone() + "{\"run\":{\"round\":1,\"ce", whole.trim_end().to_owned()] {
            fs::write(&partial, cut_off).unwrap();
            let so_far = Record::load_partial(&partial).unwrap().unwrap();
            assert_eq!(so_far.runs.len(), 1);
            let mut writer = Writer::resume(&path, &so_far).unwrap();
            writer.run(&reported(&header, 1, 0, 11.0)).unwrap();
            writer.finish(&so_far, &end()).unwrap();
            let record = Record::load(&path).unwrap().unwrap();
            assert_eq!(record.complete_rounds().len(), 2);
            assert!(fs::read_to_string(&path).unwrap().starts_with(&whole), "what was measured stays as it was");
        }
    }
}
