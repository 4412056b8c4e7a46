//! `tally preprocess`: what mdBook calls before it renders.
//!
//! - `measure` measures what is stale and fetches what draws charts; it leaves the book as it is.
//! - `cmdrun` expands the book's directives with the real mdbook-cmdrun, whose own executable does not understand mdBook 0.5.
//!   It is strict: a directive that fails, fails the build.

use std::env;
use std::io;
use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use mdbook_cmdrun::CmdRun;
use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use mdbook_preprocessor::{PreprocessorContext, parse_input};
use regex::Regex;
use serde::Deserialize;

use super::measure::Measure;
use crate::charts;
use crate::downloads;
use crate::project::Project;
use crate::record::Effort;
use crate::render::Form;

/// Work for mdBook
#[derive(Args)]
pub struct Preprocess {
    /// Which preprocessor
    #[arg(value_enum)]
    which: Which,
    /// `supports RENDERER`, when mdBook asks
    #[arg(num_args = 0..=2)]
    question: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// Measure what is stale
    Measure,
    /// Expand directives
    Cmdrun,
}

/// The keys of `[preprocessor.measure]` that are ours.
#[derive(Deserialize)]
struct Settings {
    #[serde(default = "quick")]
    effort: String,
    #[serde(default = "local")]
    show: String,
    /// Whether to measure also what pushes the machine to its limits.
    #[serde(default, rename = "push-limits")]
    push_limits: bool,
}

fn quick() -> String {
    "quick".to_owned()
}

fn local() -> String {
    "local".to_owned()
}

impl Preprocess {
    /// Answers mdBook.
    pub fn run(&self) -> Result<()> {
        if let Some(renderer) = self.question.get(1) {
            exit(i32::from(renderer != "html"));
        }
        let (context, mut book) =
            parse_input(io::stdin()).context("mdBook's input cannot be read; which version is it?")?;
        env::set_current_dir(&context.root)?;
        let project = Project::find()?;
        let settings: Settings = context
            .config
            .get("preprocessor.measure")
            .context("in [preprocessor.measure] of book.toml")?
            .context("book.toml has no [preprocessor.measure]")?;
        // A machine that does not exist is said before anything is measured.
        let machine = project.machine(&settings.show).context("show, in [preprocessor.measure]")?;
        match self.which {
            Which::Measure => {
                downloads::forget_others(&project, &machine)?;
                measure(&project, &settings)?;
            }
            Which::Cmdrun => expand(&context, &mut book, machine.slug())?,
        }
        serde_json::to_writer(io::stdout(), &book)?;
        Ok(())
    }
}

fn measure(project: &Project, settings: &Settings) -> Result<()> {
    let effort = match settings.effort.as_str() {
        "never" => None,
        "test" => Some(Effort::Test),
        "quick" => Some(Effort::Quick),
        "full" => Some(Effort::Full),
        unknown => bail!(
            "unknown effort {unknown:?} in [preprocessor.measure]; there are: quick, full, never (and test, for tests)"
        ),
    };
    if let Err(error) = charts::fetch_packages(project).and_then(|()| charts::copy_vega(project)) {
        eprintln!("tally: warning: {error:#}");
    }
    match effort {
        Some(effort) => {
            let programs = env::var_os("TALLY_PROGRAMS").map(Into::into);
            Measure::stale(effort, settings.push_limits, programs).run(project, Form::Text)
        }
        None => Ok(()),
    }
}

fn expand(context: &PreprocessorContext, book: &mut Book, machine: &str) -> Result<()> {
    let own_folder = env::current_exe()?.parent().context("tally lies in a folder")?.to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([own_folder].into_iter().chain(env::split_paths(&path)))?;
    // SAFETY: this process has one thread, which has read what it needs of the environment; directives are started later.
    unsafe {
        env::set_var("PATH", path);
        env::set_var("TALLY_FORM", "page");
        env::set_var("TALLY_MACHINE", machine);
    }
    let source = context.root.join(&context.config.book.src);
    let mut failures = Vec::new();
    book.for_each_mut(|item| {
        if let BookItem::Chapter(chapter) = item
            && let Err(failure) = expand_chapter(&source, chapter)
        {
            failures.push(format!("{failure:#}"));
        }
    });
    if !failures.is_empty() {
        bail!("{}", failures.join("\ntally: "));
    }
    Ok(())
}

fn expand_chapter(source: &std::path::Path, chapter: &mut Chapter) -> Result<()> {
    let Some(path) = &chapter.path else { return Ok(()) };
    let page = source.join(path);
    let stem = path.file_stem().unwrap_or_default();
    // SAFETY: as in `expand`: this process has one thread; those of the chapter before have ended.
    unsafe { env::set_var("TALLY_PAGE", stem) };
    let folder =
        page.parent().and_then(|folder| folder.to_str()).context("a chapter lies in a folder with a readable name")?;
    let expanded =
        side_by_side(&sections(&strict(&chapter.content)), |section| CmdRun::run_on_content(section, folder))?;
    // What data say is escaped, so this can only be mdbook-cmdrun's own.
    if let Some((_, message)) = expanded.split_once("**cmdrun error**") {
        let message: Vec<&str> =
            message.trim_start_matches(':').lines().filter(|line| !line.trim().is_empty()).take(4).collect();
        bail!("{}:{}", path.display(), message.join("\n  "));
    }
    chapter.content = expanded;
    Ok(())
}

/// The content in pieces, each beginning at a heading of the second level. Put together they are the content.
fn sections(content: &str) -> Vec<&str> {
    let (mut sections, mut rest) = (Vec::new(), content);
    while let Some(at) = rest.get(1..).and_then(|after| after.find("\n## ")) {
        let (section, after) = rest.split_at(at + 2);
        sections.push(section);
        rest = after;
    }
    sections.push(rest);
    sections
}

/// Expands sections on all CPUs: a page has dozens of directives, each a process of its own that mdbook-cmdrun waits for.
fn side_by_side(sections: &[&str], expand: impl Fn(&str) -> Result<String> + Sync) -> Result<String> {
    let next = AtomicUsize::new(0);
    let expanded: Vec<OnceLock<Result<String>>> = sections.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while let Some((section, place)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            sections.get(index).zip(expanded.get(index))
        } {
            place.get_or_init(|| expand(section));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    expanded.into_iter().map(|section| section.into_inner().expect("every section was expanded")).collect()
}

/// The content with every directive made strict: mdbook-cmdrun ignores exit codes otherwise.
fn strict(content: &str) -> String {
    let directive = Regex::new(r"<!--[ ]*cmdrun (?:--strict )?").expect("a literal that is well formed");
    directive.replace_all(content, "<!-- cmdrun --strict ").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_make_up_the_content_in_its_order() {
        for (content, known) in [
            ("", vec![""]),
            ("# a\nb\n", vec!["# a\nb\n"]),
            ("# a\n\n## b\nc\n## d\n### e\n", vec!["# a\n\n", "## b\nc\n", "## d\n### e\n"]),
            ("## a\n## b", vec!["## a\n", "## b"]),
        ] {
            assert_eq!(sections(content), known);
            let expanded = side_by_side(&sections(content), |section| Ok(section.replace('b', "B"))).unwrap();
            assert_eq!(expanded, content.replace('b', "B"));
        }
        let failed = side_by_side(&["x", "y"], |section| bail!("no {section}"));
        assert_eq!(failed.unwrap_err().to_string(), "no x");
    }

    #[test]
    fn every_directive_becomes_strict_once() {
        let content = "a <!-- cmdrun tally value x --> b\n<!--cmdrun --strict tally table y -->\n";
        let wanted = "a <!-- cmdrun --strict tally value x --> b\n<!-- cmdrun --strict tally table y -->\n";
        assert_eq!(strict(content), wanted);
    }
}
