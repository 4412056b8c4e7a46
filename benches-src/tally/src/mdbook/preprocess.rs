//! `tally preprocess`: what mdBook calls before it renders.
//!
//! - `measure` measures what is stale and fetches what draws charts; it leaves the book as it is.
//! - `cmdrun` puts into pages what their directives print. tally answers its own in this one
//!   process; commands that `book.toml` lists go to the real mdbook-cmdrun, whose own executable
//!   does not understand mdBook 0.5. It is strict: a directive that fails, fails the build.

use std::env;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::exit;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use mdbook_preprocessor::book::{Book, BookItem, Chapter};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::book::directive::{self, Directive};
use crate::book::sentences;
use crate::mdbook::commands;
use crate::mdbook::heads::{self, Head};
use crate::mdbook::moved;
use crate::mdbook::printed::Printed;
use crate::mdbook::settings::{self, Settings};
use crate::print::charts;
use crate::print::downloads;
use crate::print::render;
use crate::print::view::View;
use crate::project::{Machine, Project};
use crate::record::Effort;
use crate::say;

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

/// What the verbs of tally do for a build, which know of no preprocessor.
pub struct Verbs {
    /// What a directive prints on a page.
    pub print: fn(&str, &View) -> Result<String>,
    /// Measures what is stale, and what pushes the machine to its limits too if that is asked for.
    pub measure: fn(&Project, Effort, bool) -> Result<()>,
}

impl Preprocess {
    /// Answers mdBook: whether a renderer is supported, or with the book that it hands over.
    pub fn run(&self, verbs: &Verbs) -> Result<()> {
        let preprocessor: &dyn Preprocessor = match self.which {
            Which::Measure => &Measuring { verbs },
            Which::Cmdrun => &Printing { verbs },
        };
        if let Some(renderer) = self.question.get(1) {
            exit(i32::from(!preprocessor.supports_renderer(renderer)?));
        }
        // Whoever kills mdBook wants nothing measured any more. What was measured is kept, as after
        // any polite end.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
        let (context, book) = settings::input(io::stdin())?;
        // As a value it is written by code of serde_json's own, which is compiled to be fast.
        let book = serde_json::to_value(preprocessor.run(&context, book)?)?.to_string();
        io::stdout().write_all(book.as_bytes())?;
        Ok(())
    }
}

/// What every preprocessor is told: the checkout, the settings, and whose numbers are shown.
fn asked(context: &PreprocessorContext) -> Result<(Project, Settings, Machine)> {
    env::set_current_dir(&context.root)?;
    let project = Project::find()?;
    let settings = Settings::of(context)?;
    // A machine that does not exist is said before anything is measured.
    let machine = project.machine(&settings.show).with_context(|| format!("show, {}", settings::place("show")))?;
    Ok((project, settings, machine))
}

/// Measures what is stale, and leaves the book as it is.
struct Measuring<'a> {
    verbs: &'a Verbs,
}

impl Preprocessor for Measuring<'_> {
    fn name(&self) -> &str {
        "measure"
    }

    fn run(&self, context: &PreprocessorContext, book: Book) -> Result<Book> {
        let (project, settings, _) = asked(context)?;
        measure(&project, &settings, self.verbs)?;
        Ok(book)
    }

    fn supports_renderer(&self, renderer: &str) -> Result<bool> {
        Ok(renderer == "html")
    }
}

/// Puts what directives print into the book.
struct Printing<'a> {
    verbs: &'a Verbs,
}

impl Preprocessor for Printing<'_> {
    fn name(&self) -> &str {
        "cmdrun"
    }

    fn run(&self, context: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let (project, _, machine) = asked(context)?;
        // What it stands on is hashed before it is read: what changes between the two is printed
        // anew next time.
        let printed = Printed::load(&project, &machine)?;
        let view = View::new(project, machine, None)?;
        let machines = expand(context, &mut book, &view, printed, self.verbs)?;
        downloads::forget_others(&view.project, &machines)?;
        Ok(book)
    }

    fn supports_renderer(&self, renderer: &str) -> Result<bool> {
        Ok(renderer == "html")
    }
}

fn measure(project: &Project, settings: &Settings, verbs: &Verbs) -> Result<()> {
    let effort = settings.effort()?;
    for wanted in [charts::find_node(), charts::fetch_packages(project).and_then(|()| charts::copy_vega(project))] {
        if let Err(error) = wanted {
            say!("tally: warning: {error:#}");
            break;
        }
    }
    match effort {
        Some(effort) => (verbs.measure)(project, effort, settings.push_limits),
        None => Ok(()),
    }
}

/// Puts what directives print in their places, and returns whose numbers stand there. All that fail
/// are said at once.
fn expand(
    context: &PreprocessorContext,
    book: &mut Book,
    view: &View,
    mut printed: Printed,
    verbs: &Verbs,
) -> Result<Vec<Machine>> {
    let source = context.root.join(&context.config.book.src);
    let commands = view.project.commands()?;
    let (mut failures, mut heads, mut machines) = (Vec::new(), Vec::new(), vec![view.machine.clone()]);
    book.for_each_mut(|item| {
        if let BookItem::Chapter(Chapter { path: Some(path), content, .. }) = item {
            let expanded = printed.stand_in(path, view).map_err(|error| vec![format!("{error:#}")]);
            let expanded = expanded.and_then(|stand_in| {
                machines.extend(stand_in.clone());
                let (view, file) = (view.of_page(&path.to_string_lossy(), stand_in), source.join(&*path));
                Page { view, verbs, path, file, commands: &commands }.expanded(content, &mut printed)
            });
            match expanded {
                Ok(expanded) => {
                    heads.push(Head::of(path, &expanded));
                    *content = expanded;
                }
                Err(own) => failures.extend(own),
            }
        }
    });
    printed.save();
    if !failures.is_empty() {
        bail!("{}", failures.join("\ntally: "));
    }
    let address = context.config.get::<String>("preprocessor.cmdrun.address")?.unwrap_or_default();
    heads::write(view, &heads, &address)?;
    moved::write(view)?;
    Ok(machines)
}

/// What a directive printed.
struct Answer {
    directive: Directive,
    text: String,
}

impl Answer {
    /// What stands in its place.
    fn shown(&self) -> &str {
        if self.directive.inline { self.text.trim_end() } else { &self.text }
    }

    /// Whether it is a number of a sentence that is not there.
    fn is_missing(&self) -> bool {
        is_value(&self.directive) && self.text.starts_with(render::MISSING)
    }
}

fn is_value(directive: &Directive) -> bool {
    directive.command.starts_with("tally value ")
}

/// A page with answers in the places of its directives. A sentence whose number is not there is
/// left out, and that it is says why.
fn put_in(content: &str, answers: &[Answer]) -> String {
    let places: Vec<_> = answers.iter().map(|answer| answer.directive.place.clone()).collect();
    let (mut page, mut from) = (String::new(), 0);
    for answer in answers {
        let own = &answer.directive.place;
        if own.start < from {
            continue;
        }
        let sentence = sentence_around(content, own, &places);
        let of_it: Vec<&Answer> = answers.iter().filter(|own| is_within(&own.directive.place, &sentence)).collect();
        let missing = of_it.iter().find(|own| own.is_missing());
        match missing {
            Some(missing) if sentence != *own && of_it.iter().all(|own| is_value(&own.directive)) => {
                let end = content[sentence.clone()].trim_end().len();
                let rest = &content[sentence.start + end..sentence.end];
                page += &content[from..sentence.start];
                let why = missing.shown();
                page += &format!("<span class=\"left-out\">(A sentence is left out: {why}.)</span>{rest}");
                from = sentence.end;
            }
            _ => {
                page += &content[from..own.start];
                page += answer.shown();
                from = own.end;
            }
        }
    }
    page + &content[from..]
}

fn is_within(place: &Range<usize>, other: &Range<usize>) -> bool {
    other.start <= place.start && place.end <= other.end
}

fn sentence_around(content: &str, own: &Range<usize>, places: &[Range<usize>]) -> Range<usize> {
    let paragraph = sentences::paragraph(content, own.start);
    let text = &content[paragraph.clone()];
    let inside = places.iter().filter(|place| paragraph.contains(&place.start));
    let inside: Vec<_> = inside.map(|place| place.start - paragraph.start..place.end - paragraph.start).collect();
    let at = own.start - paragraph.start;
    // A row of a table is no sentence, and neither is a head.
    let is_prose = !text.trim_start().starts_with(['|', '#']);
    let sentence = sentences::of(text, &inside).into_iter().find(|sentence| is_prose && sentence.contains(&at));
    sentence.map_or(own.clone(), |sentence| sentence.start + paragraph.start..sentence.end + paragraph.start)
}

/// A page that is being printed.
struct Page<'a> {
    view: View,
    verbs: &'a Verbs,
    /// From the book's source on.
    path: &'a Path,
    file: PathBuf,
    /// What a directive may run besides tally.
    commands: &'a [String],
}

impl Page<'_> {
    /// The content with what its directives print in their places; what was printed is not read for
    /// directives again. Or all that is wrong.
    fn expanded(&self, content: &str, printed: &mut Printed) -> Result<String, Vec<String>> {
        let (mut answers, mut failures) = (Vec::new(), Vec::new());
        for found in directive::all(content) {
            let (line, answer) = match found {
                Err((line, reason)) => (line, Err(anyhow!("{reason}"))),
                Ok(directive) => {
                    (directive.line, self.answer(&directive, printed).map(|text| Answer { directive, text }))
                }
            };
            match answer {
                Ok(answer) => answers.push(answer),
                Err(error) => failures.push(format!("{}, line {line}: {error:#}", self.path.display())),
            }
        }
        if failures.is_empty() { Ok(put_in(content, &answers)) } else { Err(failures) }
    }

    /// What a directive prints. tally answers its own here, by the same code as at a terminal and
    /// without a shell; any other command goes to the real mdbook-cmdrun, if book.toml lists it.
    fn answer(&self, directive: &Directive, printed: &mut Printed) -> Result<String> {
        let (command, project) = (&directive.command, &self.view.project);
        if self.commands.contains(command) {
            return self.run(directive);
        }
        if let Some(known) = printed.find(project, self.path, command) {
            return Ok(known.to_owned());
        }
        self.view.output.written.borrow_mut().clear();
        self.view.output.undrawn.set(false);
        let answer = (self.verbs.print)(command, &self.view).with_context(|| format!("cmdrun {command}"))?;
        // What no picture was drawn for lies outside all that is hashed.
        if !self.view.output.undrawn.get() {
            printed.keep(project, self.path, command, &answer, self.view.output.written.take());
        }
        Ok(answer)
    }

    fn run(&self, directive: &Directive) -> Result<String> {
        let folder =
            self.file.parent().and_then(Path::to_str).context("a page lies in a folder with a readable name")?;
        commands::run(&directive.command, folder, directive.inline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content: &str, missing: &str) -> String {
        let answer = |directive: Directive| {
            let text = match directive.command.contains(missing) {
                true => format!("{} href=\"x\">full only</a>\n", render::MISSING),
                false => "5 µs\n".to_owned(),
            };
            Answer { directive, text }
        };
        let answers: Vec<Answer> = directive::all(content).into_iter().map(|found| answer(found.unwrap())).collect();
        put_in(content, &answers)
    }

    #[test]
    fn a_sentence_without_its_number_is_left_out_and_others_stay() {
        let content = "It takes <!-- cmdrun tally value a --> here. There it takes\n<!-- cmdrun tally value b --> or \
                       <!-- cmdrun tally value c.x -->.\nSo it is.\n";
        assert_eq!(page(content, "none"), "It takes 5 µs here. There it takes\n5 µs or 5 µs.\nSo it is.\n");
        let left_out = page(content, "c.x");
        assert!(
            left_out.starts_with("It takes 5 µs here. <span class=\"left-out\">(A sentence is left out: <a class"),
            "{left_out}"
        );
        assert!(left_out.ends_with("full only</a>.)</span>\nSo it is.\n") && !left_out.contains("There"), "{left_out}");
        let first = page(content, "value a");
        assert!(first.starts_with("<span") && first.contains("There it takes\n5 µs or 5 µs."), "{first}");
    }

    #[test]
    fn what_is_no_number_of_a_sentence_stays_where_it_is() {
        for content in ["<!-- cmdrun tally table a -->\n", "| a | <!-- cmdrun tally table a --> |\n"] {
            assert!(!page(content, "a").contains("left-out"), "{content}");
        }
        let row = "| one | <!-- cmdrun tally value a --> |\n| two | <!-- cmdrun tally value b --> |\n";
        assert!(
            page(row, "value a").starts_with("| one | <a class") && page(row, "value a").ends_with("| two | 5 µs |\n")
        );
    }
}
