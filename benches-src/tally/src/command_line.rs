//! The command line: one verb, one file of [`crate::cmd`].

use std::env;
use std::io::{ErrorKind, Write};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Parser, Subcommand};

use crate::book::directive;
use crate::cmd::measure::Measure;
use crate::cmd::{
    between, calculator, chart, check, claim, compare_builds, confirm, different, exec_tied, export, figure, identify,
    import, limits, list, listing, measure, schema, spin, stream, table, takeaway, unpack, value,
};
use crate::mdbook::preprocess::{Preprocess, Verbs};
use crate::print::render::Form;
use crate::print::view::View;
use crate::project::Project;
use crate::record::store::machine_or_session;

/// Plans, runs, keeps, computes and prints the measurements of this book
#[derive(Parser)]
#[command(name = "tally", version)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Whose numbers: local, reference, a folder of data/machines, or one session of it,
    /// NAME/2026-11-25-2 [default: local]
    #[arg(long, global = true)]
    machine: Option<String>,
    /// For whom to print [default: text]
    #[arg(long, global = true, value_enum)]
    form: Option<Form>,
    /// Short for --form json
    #[arg(long, global = true)]
    json: bool,
}

/// What to do; each verb's own documentation is in its file.
#[derive(Subcommand)]
#[allow(missing_docs)]
pub enum Verb {
    List(list::List),
    Limits(limits::Limits),
    Measure(measure::Measure),
    Listing(listing::Listing),
    Table(table::Table),
    Chart(chart::Chart),
    Value(value::Value),
    Claim(claim::Claim),
    Takeaway(takeaway::Takeaway),
    Figure(figure::Figure),
    Calculator(calculator::Calculator),
    Confirm(confirm::Confirm),
    Different(different::Different),
    Between(between::Between),
    Check(check::Check),
    Schema(schema::Schema),
    Export(export::Export),
    Import(import::Import),
    Identify(identify::Identify),
    CompareBuilds(compare_builds::CompareBuilds),
    Unpack(unpack::Unpack),
    Preprocess(Preprocess),
    #[command(hide = true)]
    ExecTied(exec_tied::ExecTied),
    #[command(hide = true)]
    Spin(spin::Spin),
    #[command(hide = true)]
    Stream(stream::Stream),
}

/// What is said of a verb that does something else.
pub const ONLY_PRINTS: &str = "a directive may only print, and this command does more";

impl Verb {
    /// What it prints; nothing of a verb that does something else.
    pub fn printed(&self, view: &View, form: Form) -> Option<Result<String>> {
        Some(match self {
            Verb::List(verb) => verb.print(view, form),
            Verb::Listing(verb) => verb.print(view, form),
            Verb::Table(verb) => verb.print(view, form),
            Verb::Limits(verb) => verb.print(view, form),
            Verb::Chart(verb) => verb.print(view, form),
            Verb::Value(verb) => verb.print(view, form),
            Verb::Claim(verb) => verb.print(view, form),
            Verb::Takeaway(verb) => verb.print(view, form),
            Verb::Figure(verb) => verb.print(view, form),
            Verb::Calculator(verb) => verb.print(view, form),
            Verb::Confirm(verb) => verb.print(view, form),
            Verb::Different(verb) => verb.print(view, form),
            Verb::Between(verb) => verb.print(view, form),
            Verb::Check(verb) => verb.print(view),
            Verb::Measure(_)
            | Verb::Schema(_)
            | Verb::Export(_)
            | Verb::Import(_)
            | Verb::Identify(_)
            | Verb::CompareBuilds(_)
            | Verb::Unpack(_)
            | Verb::Preprocess(_)
            | Verb::ExecTied(_)
            | Verb::Spin(_)
            | Verb::Stream(_) => return None,
        })
    }
}

impl CommandLine {
    /// The verb of a directive, which is tally's, and prints and nothing else. Whose numbers a page
    /// shows is the page's to say.
    pub fn of_directive(command: &str) -> Result<Verb> {
        let words = directive::words(command)?;
        ensure!(
            words.first().is_some_and(|word| word == "tally"),
            "a directive calls tally, or a command that book.toml lists under commands in [preprocessor.cmdrun]"
        );
        let read = Self::try_parse_from(words).map_err(|error| {
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            anyhow!("{}", first.strip_prefix("error: ").unwrap_or(first))
        })?;
        let Self { verb, machine, form, json } = read;
        ensure!(machine.is_none() && form.is_none() && !json, "a page has one machine and one form; leave both out");
        match &verb {
            Verb::Measure(_)
            | Verb::Export(_)
            | Verb::Import(_)
            | Verb::Identify(_)
            | Verb::CompareBuilds(_)
            | Verb::Unpack(_)
            | Verb::Preprocess(_)
            | Verb::ExecTied(_)
            | Verb::Spin(_)
            | Verb::Stream(_)
            | Verb::Schema(_)
            | Verb::Check(_) => {
                bail!(ONLY_PRINTS)
            }
            Verb::Between(between) if !between.only_prints() => bail!(ONLY_PRINTS),
            _ => Ok(verb),
        }
    }

    /// Does what was asked for.
    pub fn run(self) -> Result<()> {
        match self.verb {
            Verb::Preprocess(verb) => {
                return verb.run(&Verbs {
                    print: |command, view| {
                        Self::of_directive(command)?.printed(view, Form::Page).context(ONLY_PRINTS)?
                    },
                    measure: |project, effort, push_limits| {
                        let programs = env::var_os("TALLY_PROGRAMS").map(Into::into);
                        Measure::stale(effort, push_limits, programs).run(project, Form::Text)?.is_a_warning();
                        Ok(())
                    },
                });
            }
            Verb::ExecTied(verb) => verb.run(),
            Verb::Spin(verb) => return verb.run(),
            Verb::Stream(verb) => return verb.run(),
            _ => {}
        }
        let project = Project::find()?;
        let form = if self.json { Form::Json } else { self.form.unwrap_or_default() };
        match &self.verb {
            Verb::Measure(verb) => return verb.run(&project, form)?.is_an_error(),
            Verb::Confirm(verb) => verb.measure(&project, form)?,
            Verb::Export(verb) => return verb.run(&project),
            Verb::Import(verb) => return verb.run(&project),
            Verb::Identify(verb) => return verb.run(&project),
            Verb::CompareBuilds(verb) => return verb.run(&project),
            Verb::Unpack(verb) => return verb.run(&project),
            Verb::Between(verb) if !verb.only_prints() => return verb.derive(&project),
            _ => {}
        }
        // What plans may say is answered even where a plan cannot be read.
        if let Verb::Schema(verb) = &self.verb {
            return write_out(&verb.print(&project)?);
        }
        let machine = machine_or_session(&project, self.machine.as_deref().unwrap_or("local"))?;
        let project = if matches!(self.verb, Verb::Check(_)) { project.with_reference_alone() } else { project };
        let view = View::new(project, machine, None)?;
        let Some(printed) = self.verb.printed(&view, form) else { unreachable!("done above") };
        write_out(&printed?)
    }
}

fn write_out(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // Whoever reads has seen enough, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
