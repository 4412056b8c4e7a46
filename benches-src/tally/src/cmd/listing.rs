//! `tally listing`: of programs, the part that is inside the clock and what the others do
//! meanwhile; of a chapter, every program with its whole file.

use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, Result, ensure};
use clap::Args;
use walkdir::{DirEntry, WalkDir};

use crate::book::excerpt::Excerpt;
use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::cmd::json_array;
use crate::name;
use crate::print::escape::{code, html};
use crate::print::render::{self, Form};
use crate::print::view::View;
use crate::project::Project;
use crate::record::freshness::{Freshness, Stale};

/// The part of programs that is inside the clock
#[derive(Args)]
pub struct Listing {
    /// Programs, to be shown side by side
    #[arg(required_unless_present_any = ["all", "file"], conflicts_with_all = ["all", "file"])]
    pub programs: Vec<String>,
    /// Every program of a chapter, with its whole file, and what they share
    #[arg(long, value_name = "CHAPTER", conflicts_with = "file")]
    pub all: Option<String>,
    /// Whole files of benches-src
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub file: Vec<String>,
}

/// What is shown of a program.
struct Program<'a> {
    name: String,
    plan: &'a Plan,
    operation: String,
    /// What runs it; nothing of a program that only others start.
    command: Option<String>,
    file: File,
    excerpt: Excerpt,
}

/// A file of `benches-src`, by its path from there on.
struct File {
    path: String,
    code: String,
}

impl Listing {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        if !self.file.is_empty() {
            return self.file.iter().map(|path| File::read(view, path)?.whole(view, None, form)).collect();
        }
        let names = match &self.all {
            Some(chapter) => programs_of(view, chapter)?,
            None => self.programs.clone(),
        };
        let programs = names.iter().map(|name| Program::read(view, name)).collect::<Result<Vec<_>>>()?;
        Ok(match form {
            Form::Text => programs.iter().map(Program::text).collect::<Vec<_>>().join("\n"),
            Form::Json => json_array(&programs, Program::json),
            Form::Page => match &self.all {
                Some(chapter) => all(view, chapter, &programs)?,
                None => side_by_side(view, &programs)?,
            },
        })
    }

    /// Whether there is all that it shows. That each program of a chapter has its excerpt is seen
    /// where all of them are shown, once.
    pub fn is_known(&self, view: &View) -> Result<()> {
        if self.all.is_some() || !self.file.is_empty() {
            return self.print(view, Form::Text).map(drop);
        }
        self.programs.iter().try_for_each(|name| plan_of(view, name).map(drop))
    }
}

/// The programs of a chapter.
fn programs_of(view: &View, chapter: &str) -> Result<Vec<String>> {
    let known = || view.plans.all.iter().map(|plan| plan.chapter.as_str()).collect::<Vec<_>>().join(", ");
    let plan = view.plans.all.iter().find(|plan| plan.chapter == chapter);
    let plan = plan.with_context(|| format!("unknown chapter {chapter:?}; there are: {}", known()))?;
    Ok(plan.all_programs().into_iter().map(str::to_owned).collect())
}

/// The chapter of a program, which may be one that only others start.
fn plan_of<'a>(view: &'a View, name: &str) -> Result<&'a Plan> {
    let of_tool = view.plans.all.iter().find(|plan| plan.programs.tools.iter().any(|tool| tool == name));
    of_tool.map_or_else(|| view.plans.chapter_of(name), Ok)
}

impl<'a> Program<'a> {
    fn read(view: &'a View, name: &str) -> Result<Self> {
        let plan = plan_of(view, name)?;
        let file = File::read(view, &Project::listing(&plan.chapter, name))?;
        let excerpt = Excerpt::cut(&file.code).with_context(|| format!("in benches-src/{}", file.path))?;
        let operation = operation(&view.project, &plan.chapter, name)?;
        Ok(Self { name: name.to_owned(), plan, operation, command: command(view, name), file, excerpt })
    }

    fn text(&self) -> String {
        let Self { name, plan, operation, command, file, excerpt: Excerpt { timed, others } } = self;
        let command = command.as_ref().map_or(String::new(), |command| format!("{command}\n"));
        let meanwhile = if others.is_empty() { String::new() } else { format!("\n{MEANWHILE}:\n\n{others}") };
        format!("{}/{name}\n{operation}\nbenches-src/{}\n{command}\n{timed}{meanwhile}", plan.chapter, file.path)
    }

    fn json(&self) -> serde_json::Value {
        let Excerpt { timed, others } = &self.excerpt;
        let path = format!("benches-src/{}", self.file.path);
        serde_json::json!({
            "program": self.name, "operation": self.operation, "path": path,
            "command": self.command, "timed": timed, "others": others,
        })
    }

    fn excerpt(&self) -> String {
        let Excerpt { timed, others } = &self.excerpt;
        let meanwhile = format!("<p class=\"legend\">{MEANWHILE}:</p>\n{}", shown(others));
        shown(timed) + if others.is_empty() { "" } else { &meanwhile }
    }

    fn figure(&self, view: &View) -> Result<String> {
        Ok(format!(
            "<figure class=\"listing\">\n<figcaption><strong>{}</strong> <span class=\"operation\">{}</span> <a \
             href=\"{}\">the whole program, {} lines</a></figcaption>\n{}{}</figure>\n",
            html(self.plan.programs.label(&self.name)),
            with_code(&self.operation),
            view.program(&self.plan.chapter, &self.name),
            self.file.lines(),
            stale(view, &self.name, &self.file.path)?,
            self.excerpt()
        ))
    }

    /// Folded below its name: a chapter may have dozens, and who comes for one comes by that.
    fn section(&self, view: &View) -> Result<String> {
        let shown = |command| format!(" <span class=\"small\"><code class=\"command\">{}</code></span>", html(command));
        let command = self.command.as_deref().map(shown);
        Ok(format!(
            "\n## {}\n\n<details class=\"programs listing\">\n<summary>{}, {} lines</summary>\n{}\
             <p><span class=\"operation\">{}</span>{}</p>\n<p class=\"legend\">Inside the clock:</p>\n{}{}</details>\n",
            self.name,
            html(self.plan.programs.label(&self.name)),
            self.file.lines(),
            stale(view, &self.name, &self.file.path)?,
            with_code(&self.operation),
            command.unwrap_or_default(),
            self.excerpt(),
            self.file.whole(view, revision(view, &self.name)?.as_deref(), Form::Page)?
        ))
    }
}

impl File {
    fn read(view: &View, path: &str) -> Result<Self> {
        let within = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(within && path.ends_with(".rs"), "{path:?} is no Rust file of benches-src");
        let whole = view.project.benches().join(path);
        let code = fs::read_to_string(&whole).with_context(|| format!("cannot read benches-src/{path}"))?;
        Ok(Self { path: path.to_owned(), code })
    }

    fn lines(&self) -> usize {
        self.code.lines().count()
    }

    /// All of it, folded, with the way to it in the repository.
    fn whole(&self, view: &View, revision: Option<&str>, form: Form) -> Result<String> {
        let path = format!("benches-src/{}", self.path);
        let link = repository_link(view, &path, revision)?;
        let there = link.map_or(html(&path), |link| format!("<a href=\"{}\">{}</a>", html(&link), html(&path)));
        Ok(match form {
            Form::Text => format!("{path}\n\n{}", self.code),
            Form::Json => serde_json::json!({ "path": path, "code": self.code }).to_string() + "\n",
            Form::Page => format!(
                "<details class=\"whole\">\n<summary>{}, {} lines</summary>\n<p class=\"small\">{there}</p>\n{}\
                 </details>\n",
                if self.path.contains("/src/bin/") { "The whole program".to_owned() } else { html(&self.path) },
                self.lines(),
                shown(&self.code)
            ),
        })
    }
}

/// What the second part of an excerpt is.
const MEANWHILE: &str = "What the others do meanwhile";

fn shown(text: &str) -> String {
    format!("<pre><code class=\"language-rust\">{}</code></pre>\n", code(text))
}

fn side_by_side(view: &View, programs: &[Program]) -> Result<String> {
    let labels: Vec<String> = programs.iter().map(|program| html(program.plan.programs.label(&program.name))).collect();
    let figures = programs.iter().map(|program| program.figure(view)).collect::<Result<String>>()?;
    let what = if programs.len() == 1 { "The program" } else { "The programs" };
    let labels = labels.join(" · ");
    Ok(format!(
        "<details class=\"programs\">\n<summary>{what}: {labels}</summary>\n<div class=\"listings\">\n{figures}\
         </div>\n</details>\n"
    ))
}

fn all(view: &View, chapter: &str, programs: &[Program]) -> Result<String> {
    let sections = programs.iter().map(|program| program.section(view)).collect::<Result<String>>()?;
    let shared = shared_files(&view.project.benches(), chapter);
    let files = shared.iter().map(|path| File::read(view, path)?.whole(view, None, Form::Page));
    Ok(format!("{sections}\n## What they share\n\n{}", files.collect::<Result<String>>()?))
}

/// The revision of the files that a program was measured with, if they are those that lie here now.
fn revision(view: &View, program: &str) -> Result<Option<String>> {
    for (plan, experiment) in experiments_of(view, program) {
        let header = view.header_on(&view.machine, plan, experiment)?;
        if let Some((header, Freshness::Fresh | Freshness::Older(_))) = header {
            // After a `+` there were changes that no revision has.
            return Ok(header.revision.clone().filter(|revision| !revision.ends_with('+')));
        }
    }
    Ok(None)
}

/// Where a file can be looked at in the repository, if book.toml says where that is.
fn repository_link(view: &View, path: &str, revision: Option<&str>) -> Result<Option<String>> {
    let url = view.project.repository()?;
    Ok(url.map(|url| format!("{}/blob/{}/{path}", url.trim_end_matches('/'), revision.unwrap_or("main"))))
}

/// What the programs of a chapter share: its `lib.rs` and whatever else is in its `src`, but for
/// the programs themselves.
fn shared_files(benches: &Path, chapter: &str) -> Vec<String> {
    let is_shared =
        |entry: &DirEntry| (entry.depth() != 1 || entry.file_name() != "bin") && name::is_ones_own(entry.file_name());
    let src = benches.join(chapter).join("src");
    let entries = WalkDir::new(src).sort_by_file_name().into_iter().filter_entry(is_shared).flatten();
    let paths =
        entries.filter_map(|entry| Some(entry.path().strip_prefix(benches).ok()?.to_string_lossy().into_owned()));
    paths.filter(|path| path.ends_with(".rs")).collect()
}

/// The first paragraph in `//!`: what one operation is. It is the program's caption everywhere.
pub fn operation(project: &Project, chapter: &str, program: &str) -> Result<String> {
    let listing = Project::listing(chapter, program);
    let path = project.benches().join(&listing);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let first: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
    ensure!(!first.is_empty(), "{listing} does not begin with a //! line that says what one operation is");
    Ok(first.join(" "))
}

/// The text as HTML, with what stands between backticks set as code.
fn with_code(text: &str) -> String {
    let escaped = html(text);
    let parts: Vec<&str> = escaped.split("&#96;").collect();
    let [pairs @ .., last] = &parts[..] else { return escaped };
    if pairs.len() % 2 == 1 {
        return escaped;
    }
    let set = |pair: &[&str]| format!("{}<code>{}</code>", pair[0], pair[1]);
    pairs.chunks(2).map(set).collect::<String>() + last
}

/// The experiments that run a program, each with its plan.
fn experiments_of<'a>(view: &'a View, program: &str) -> impl Iterator<Item = (&'a Plan, &'a Experiment)> {
    view.plans.experiments().filter(move |(_, experiment)| experiment.group(program).is_some())
}

/// The command that runs a program as one of its cells does; none for a program that only others
/// start.
fn command(view: &View, program: &str) -> Option<String> {
    let cell = experiments_of(view, program)
        .find_map(|(_, experiment)| experiment.full_cells().ok()?.iter().find(|cell| cell.program == program))?;
    Some(format!("cargo program {program} -- {}", cell.arguments().join(" ")))
}

/// A box for each record that was measured with another listing than the one that is shown.
fn stale(view: &View, program: &str, listing: &str) -> Result<String> {
    let mut out = String::new();
    for (plan, experiment) in experiments_of(view, program) {
        // Only what concerns this listing: a change in a rival is said at the rival.
        let header = view.header_on(&view.machine, plan, experiment)?;
        let aged = header.map(|(_, aged)| aged.of([program]));
        if let Some(Freshness::Stale(Stale { what, .. })) = aged {
            let concerns = what.iter().filter(|file| **file == listing || !file.contains("/src/bin/"));
            let concerns = Stale { what: concerns.cloned().collect(), ..Stale::default() };
            if !concerns.what.is_empty()
                && let Some(note) = render::freshness(&Freshness::Stale(concerns), experiment, &view.machine)
            {
                out += &render::boxed(&note);
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_share_is_all_that_lies_beside_and_below_their_library() {
        let benches = tempfile::tempdir().unwrap();
        for file in ["lib.rs", "parts.rs", "parts/one.rs", "parts/notes.md", "parts/bin/two.rs", "bin/program.rs"] {
            let path = benches.path().join("chapter/src").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut shared = shared_files(benches.path(), "chapter");
        shared.sort();
        let expected = ["lib.rs", "parts.rs", "parts/bin/two.rs", "parts/one.rs"];
        assert_eq!(shared, expected.map(|file| format!("chapter/src/{file}")));
        assert!(shared_files(benches.path(), "none").is_empty());
    }

    #[test]
    fn backticks_come_in_pairs_or_stay_as_they_are() {
        assert_eq!(with_code("as by `a`, not `b`."), "as by <code>a</code>, not <code>b</code>.");
        assert_eq!(with_code("no code"), "no code");
        assert_eq!(with_code("half `of it"), "half &#96;of it");
        assert_eq!(with_code("<`a`>"), "&#60;<code>a</code>&#62;");
    }
}
