//! Writing a session down, so that nothing that was measured is lost.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::lines::{End, Header, Line, RawRun};
use super::records::Record;
use super::sessions::EARLIER;
use super::validity;

/// Writes a session beside its final place, line by line: what is written stays when this process
/// is killed. [`Writer::finish`] sees to it that all is on the disk, and moves it to its place.
pub struct Writer {
    file: File,
    partial: PathBuf,
    path: PathBuf,
}

/// Where a finished session has come to lie.
#[derive(Debug, PartialEq)]
pub enum Placed {
    Kept,
    Aside(PathBuf, String),
}

impl Writer {
    /// Where an unfinished session of a record lies.
    pub fn partial(path: &Path) -> PathBuf {
        path.with_extension("jsonl.partial")
    }

    pub fn create(path: &Path, header: &Header) -> Result<Self> {
        validity::date(&header.before.time).context("this machine's clock is not set; set it, and measure then")?;
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

    pub fn run(&mut self, run: &RawRun) -> Result<()> {
        self.line(&Line::Run(Box::new(run.clone())))
    }

    /// Ends the session, of which this is the record but for its end. It replaces the old one in
    /// one step, unless that is better or this would be refused; then it is put beside it. An
    /// earlier session of the same is kept beside it, and so is one that was measured with more
    /// effort.
    pub fn finish(mut self, record: &Record, end: &End) -> Result<Placed> {
        self.line(&Line::End(Box::new(end.clone())))?;
        self.file.sync_all().with_context(|| cannot_write(&self.partial))?;
        if let Err(error) = Record::load(&self.partial) {
            let aside = put_aside(&self.partial, &self.path, "failed")?;
            return Err(error.context(format!("this session would be refused, and is kept as {}", aside.display())));
        }
        if let Ok(Some(old)) = Record::load(&self.path) {
            if let Some(why) = record.worse_than(&old) {
                return Ok(Placed::Aside(put_aside(&self.partial, &self.path, "failed")?, why));
            }
            if record.header.is_of_the_same(&old.header) {
                keep_beside(&self.path, EARLIER)?;
            } else if old.header.effort > record.header.effort {
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

/// Renames a file so that a record can take its place, as `.jsonl.<word>` or with a number where
/// there is one already: nothing is lost.
pub fn put_aside(file: &Path, record: &Path, word: &str) -> Result<PathBuf> {
    let aside = aside(record, word);
    fs::rename(file, &aside).with_context(|| format!("cannot put {} aside", file.display()))?;
    Ok(aside)
}

/// Keeps a record that another is about to replace in one step.
pub fn keep_beside(record: &Path, word: &str) -> Result<()> {
    let aside = aside(record, word);
    // Some file systems have no links.
    let kept = fs::hard_link(record, &aside).or_else(|_| fs::copy(record, &aside).map(drop));
    kept.with_context(|| format!("cannot keep {} as {}", record.display(), aside.display()))
}

/// A name beside a record that nothing has yet.
pub fn aside(record: &Path, word: &str) -> PathBuf {
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
