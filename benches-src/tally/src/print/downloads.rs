//! Files for download beside a figure, and the small line that leads to them: machine and date,
//! data, record, command.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::print::charts;
use crate::print::escape::html;
use crate::print::render;
use crate::print::view::View;
use crate::project::{Machine, Project};
use crate::record::Record;

/// What the book is called where it is quoted.
pub const BOOK: &str = "Threads or tasks?";

/// Writes a file below `book/src/generated`, and only if it differs, so that `mdbook serve` is not
/// set off by itself. Returns the path from a page.
pub fn write(view: &View, name: &str, text: &str) -> Result<String> {
    let way = written_before(view, name);
    let path = view.project.generated().join(name);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(way);
    }
    let put = |path: &Path| {
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))?;
        fs::write(path, text)
    };
    put(&path).with_context(|| format!("cannot write {}; is it writable, and is the disk full?", path.display()))?;
    Ok(way)
}

/// The path from a page of what is there for download, which the page now stands on.
fn written_before(view: &View, name: &str) -> String {
    view.output.written.borrow_mut().push(name.to_owned());
    view.way_to(&format!("generated/{name}"))
}

/// Writes the record's lines with all raw samples, and returns the path from a page. A bundle is
/// unpacked for it once in a process, and not at all where the lines lie there already.
fn raw(view: &View, plan: &Plan, experiment: &Experiment, name: &str) -> Result<String> {
    let written =
        view.with_found(plan, experiment, |found| match found.is_copied_to(&view.project.generated().join(name)) {
            true => Ok(written_before(view, name)),
            false => write(view, name, &found.lines()?),
        })?;
    written.context("a record that was printed is there")
}

/// Removes what is there for download of machines that are not shown now: mdBook would publish it
/// with the rest.
pub fn forget_others(project: &Project, shown: &[Machine]) -> Result<()> {
    let Ok(folders) = fs::read_dir(project.generated()) else { return Ok(()) };
    for folder in folders {
        let path = folder?.path();
        let is_kept = shown.iter().map(Machine::slug).chain([charts::VEGA]).any(|name| path.ends_with(name));
        if path.is_dir() && !is_kept {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// What stands under a figure in small letters: where its numbers come from, where to look into
/// them, how to make it again, how to cite it.
pub struct SmallPrint<'a> {
    /// The figure's id on its own chapter's page.
    pub figure: &'a str,
    /// The command that prints it again.
    pub command: &'a str,
    /// What it says, with its numbers and their intervals.
    pub says: &'a str,
    /// What it shows as CSV, for those who want the bare numbers.
    pub csv: &'a str,
    /// Further links, each a word and a path.
    pub more: &'a [(&'a str, String)],
}

impl SmallPrint<'_> {
    /// As HTML.
    pub fn page(&self, view: &View, plan: &Plan, experiment: &Experiment) -> Result<String> {
        let context = render::context(view, plan, experiment)?;
        let mut parts = vec![format!("<a href=\"{}\">{}</a>", view.way_to("machines.md"), html(&context))];
        let mut cite = String::new();
        if let Ok((record, _)) = view.kept(plan, experiment)?.as_ref() {
            let folder = format!("{}/{}", view.machine.slug(), plan.chapter);
            // A table and a figure of one experiment show different numbers of it.
            let csv = write(view, &format!("{folder}/{}.csv", self.figure), self.csv)?;
            parts.push(format!("<a href=\"{csv}\" download>data (CSV)</a>"));
            parts.push(match raw(view, plan, experiment, &format!("{folder}/{}.jsonl", experiment.name)) {
                Ok(raw) => format!("<a href=\"{raw}\" download>raw record ({})</a>", html(&provenance(record))),
                // Its numbers stand all the same: the bundle was whole when they were read.
                Err(error) => format!("raw record {}", render::boxed_word(&view.unreadable(&error))),
            });
            cite = self.cite(view, plan, record);
        }
        parts.extend(self.more.iter().map(|(word, path)| format!("<a href=\"{path}\" download>{}</a>", html(word))));
        parts.push(format!("<a href=\"{}\">programs</a>", view.program(&plan.chapter, experiment.programs()[0])));
        parts.push(format!("<code class=\"command\">{}</code>", html(self.command)));
        Ok(small_letters(&parts, &cite))
    }

    /// A citation that carries the machine along.
    fn cite(&self, view: &View, plan: &Plan, record: &Record) -> String {
        let text = format!(
            "{} {BOOK} {}. Machine {}: {}; measured {}, effort {}, {} rounds, revision {}.",
            self.says,
            self.figure,
            view.machine.name(),
            record.header.machine.summary(),
            record.day(),
            record.header.effort.word(),
            record.complete_rounds().len(),
            record.header.revision.as_deref().unwrap_or("unknown"),
        );
        citation(view, &plan.chapter, self.figure, &text)
    }
}

/// Small letters under a figure: their parts in a line, and under it a citation, if there is one.
pub fn small_letters(parts: &[String], citation: &str) -> String {
    format!("<div class=\"small\">\n<p>{}</p>\n{citation}</div>\n", parts.join(" · "))
}

/// A citation of what has this anchor, folded away, with a link to it; and the same as BibTeX.
pub fn citation(view: &View, chapter: &str, anchor: &str, text: &str) -> String {
    let link = view.link(chapter, anchor);
    let address = html(&link.replacen(".md#", ".html#", 1));
    let text = html(text);
    format!(
        "<details class=\"cite\"><summary>cite</summary><p>{text} <a href=\"{link}\">{address}</a></p>\n\
         <details><summary>BibTeX</summary><p><code>@misc{{threads-or-tasks-{}, title = {{{BOOK}}}, note = {{{text}}}, \
         howpublished = {{<a href=\"{link}\">{address}</a>}}}}</code></p></details></details>\n",
        html(anchor)
    )
}

fn provenance(record: &Record) -> String {
    let revision = record.header.revision.as_deref().unwrap_or("unknown");
    format!("revision {revision}, {} processes", record.runs.len())
}
