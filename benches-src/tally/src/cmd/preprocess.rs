//! `tally preprocess`: what mdBook calls before it renders.
//!
//! - `measure` measures what is stale and fetches what draws charts; it leaves the book as it is.
//! - `cmdrun` expands the book's directives with the real mdbook-cmdrun, whose own executable does not understand mdBook 0.5.
//!   It is strict: a directive that fails, fails the build.

use std::env;
use std::io;
use std::process::exit;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use mdbook_cmdrun::CmdRun;
use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use mdbook_preprocessor::{PreprocessorContext, parse_input};
use regex::Regex;
use serde::Deserialize;

use super::measure::Measure;
use crate::charts;
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
            Which::Measure => measure(&project, &settings)?,
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
        Some(effort) => Measure::stale(effort, env::var_os("TALLY_PROGRAMS").map(Into::into)).run(project, Form::Text),
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
    // SAFETY: as in `expand`: this process has one thread, and no directive is running now.
    unsafe { env::set_var("TALLY_PAGE", stem) };
    let folder =
        page.parent().and_then(|folder| folder.to_str()).context("a chapter lies in a folder with a readable name")?;
    let expanded = CmdRun::run_on_content(&strict(&chapter.content), folder)?;
    // What data say is escaped, so this can only be mdbook-cmdrun's own.
    if let Some((_, message)) = expanded.split_once("**cmdrun error**") {
        let message: Vec<&str> =
            message.trim_start_matches(':').lines().filter(|line| !line.trim().is_empty()).take(4).collect();
        bail!("{}:{}", path.display(), message.join("\n  "));
    }
    chapter.content = expanded;
    Ok(())
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
    fn every_directive_becomes_strict_once() {
        let content = "a <!-- cmdrun tally value x --> b\n<!--cmdrun --strict tally table y -->\n";
        let wanted = "a <!-- cmdrun --strict tally value x --> b\n<!-- cmdrun --strict tally table y -->\n";
        assert_eq!(strict(content), wanted);
    }
}
