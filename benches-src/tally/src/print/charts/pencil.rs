//! What draws: one Node for all charts of a build, and pictures that are kept by the hash of
//! everything they depend on.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::{CURE, Drawn, NO_NODE, Request, are_fetched, fetch_packages, reason, with_cure};
use crate::measure::child::{own_executable, tied};
use crate::measure::counted;
use crate::project::Project;
use crate::record::checksum::hash;
use crate::say;

/// What to do where the packages that draw are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packages {
    Fetch,
    /// To draw nothing: a build has tried to fetch them once, and every chart of it would try
    /// again.
    AsTheyAre,
}

/// Draws charts with one Node for all of them, which is started by the first that was not drawn
/// before.
#[derive(Default)]
pub struct Pencil(RefCell<Option<Node>>);

impl Pencil {
    /// Draws, or finds what was drawn before.
    pub fn draw(&self, project: &Project, request: &Request, packages: Packages) -> Result<Drawn> {
        let folder = project.charts();
        let asked = serde_json::to_string(request)?;
        let mut all = asked.clone();
        for file in ["draw.mjs", "package-lock.json"] {
            all +=
                &fs::read_to_string(folder.join(file)).with_context(|| format!("cannot read {file} of book/charts"))?;
        }
        let kept = project.drawn().join(format!("{}.json", hash(all.as_bytes())));
        if let Some(drawn) = fs::read_to_string(&kept).ok().and_then(|text| serde_json::from_str(&text).ok()) {
            return Ok(drawn);
        }
        match packages {
            Packages::Fetch => fetch_packages(project)?,
            Packages::AsTheyAre => {
                ensure!(are_fetched(project)?, "the packages that draw charts are not there. {CURE}")
            }
        }
        let drawn: Drawn = serde_json::from_str(&self.answer(&folder, &asked)?)?;
        let keep = || -> std::io::Result<()> {
            fs::create_dir_all(project.drawn())?;
            // Written beside and moved, since builds may run side by side.
            let mut file = tempfile::NamedTempFile::new_in(project.drawn())?;
            file.write_all(serde_json::to_string(&drawn)?.as_bytes())?;
            file.persist(&kept)?;
            Ok(())
        };
        if let Err(error) = keep() {
            // What is drawn can be shown, whether there is room to keep it or not.
            say!(
                "tally: warning: a chart cannot be kept in {} ({error}), and will be drawn again",
                project.drawn().display()
            );
        }
        Ok(drawn)
    }

    /// Puts a picture as PNG into a file, unless it was put there before.
    pub fn card(&self, project: &Project, svg: &str, to: &Path) -> Result<()> {
        let folder = project.charts();
        let script = fs::read(folder.join("draw.mjs")).context("cannot read draw.mjs of book/charts")?;
        let kept = project.drawn().join(format!("{}.png", hash(&[svg.as_bytes(), &script].concat())));
        if !kept.is_file() {
            ensure!(are_fetched(project)?, "the packages that draw charts are not there. {CURE}");
            fs::create_dir_all(project.drawn())?;
            self.answer(&folder, &serde_json::json!({ "card": svg, "to": kept }).to_string())?;
        }
        if fs::read(to).ok() != Some(fs::read(&kept)?) {
            fs::create_dir_all(to.parent().expect("a file lies in a folder"))?;
            fs::copy(&kept, to).with_context(|| format!("cannot write {}", to.display()))?;
        }
        Ok(())
    }

    /// What Node answers; one that has failed is forgotten.
    fn answer(&self, folder: &Path, request: &str) -> Result<String> {
        let mut node = self.0.borrow_mut();
        let answer = match &mut *node {
            Some(running) => running.answer(request),
            none => none.insert(Node::start(folder)?).answer(request),
        };
        if let Ok(Some(line)) = answer {
            return Ok(line);
        }
        let said = node.take().map(Node::end).transpose()?.unwrap_or_default();
        say!("tally: draw.mjs failed:\n{}", said.trim());
        bail!("draw.mjs failed: {}", with_cure(reason(&said, folder)))
    }
}

/// A Node that draws what it is asked for, a line of JSON each, and answers in lines.
struct Node {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    errors: File,
}

impl Node {
    fn start(folder: &Path) -> Result<Self> {
        let errors = tempfile::tempfile().context("no temporary file can be made; is the disk full?")?;
        ensure!(counted::find("node").is_some(), NO_NODE);
        let mut node = tied(&own_executable(), "node");
        node.arg("draw.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        node.stderr(errors.try_clone()?);
        let mut child = node.spawn().context(NO_NODE)?;
        let (requests, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Ok(Self { child, requests, answers: BufReader::new(answers), errors })
    }

    /// The answer, or nothing where it has ended instead.
    fn answer(&mut self, request: &str) -> std::io::Result<Option<String>> {
        // What JSON does not escape and Node takes for the end of a line.
        let line = request.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029") + "\n";
        self.requests.write_all(line.as_bytes())?;
        self.requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok((!answer.is_empty()).then_some(answer))
    }

    /// What it wrote to standard error until its end.
    fn end(self) -> Result<String> {
        let Self { mut child, requests, answers, mut errors } = self;
        drop((requests, answers));
        child.wait()?;
        let mut said = Vec::new();
        errors.rewind()?;
        errors.read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

impl Drop for Pencil {
    fn drop(&mut self) {
        // It ends when nothing more is asked of it; what it says then is nobody's concern.
        let _ = self.0.take().map(Node::end);
    }
}
