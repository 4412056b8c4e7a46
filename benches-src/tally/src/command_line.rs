//! The command line: one verb, one file of [`crate::cmd`].

use std::io::{ErrorKind, Write};

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::cmd::{
    calculator, chart, check, claim, confirm, export, limits, list, measure, preprocess, spin, stream, table, value,
};
use crate::project::Project;
use crate::render::Form;
use crate::view::View;

/// Plans, runs, keeps, computes and prints the measurements of this book
#[derive(Parser)]
#[command(name = "tally", version)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Whose numbers: local, reference, or a folder of data/machines
    #[arg(long, global = true, env = "TALLY_MACHINE", default_value = "local")]
    machine: String,
    /// For whom to print
    #[arg(long, global = true, value_enum, env = "TALLY_FORM", default_value_t)]
    form: Form,
    /// The page that is being printed, without its ending
    #[arg(long, global = true, env = "TALLY_PAGE", hide = true)]
    page: Option<String>,
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
    Table(table::Table),
    Chart(chart::Chart),
    Value(value::Value),
    Claim(claim::Claim),
    Calculator(calculator::Calculator),
    Confirm(confirm::Confirm),
    Check(check::Check),
    Export(export::Export),
    Preprocess(preprocess::Preprocess),
    #[command(hide = true)]
    Spin(spin::Spin),
    #[command(hide = true)]
    Stream(stream::Stream),
}

impl CommandLine {
    /// Does what was asked for.
    pub fn run(self) -> Result<()> {
        match self.verb {
            Verb::Preprocess(verb) => return verb.run(),
            Verb::Spin(verb) => return verb.run(),
            Verb::Stream(verb) => return verb.run(),
            _ => {}
        }
        let project = Project::find()?;
        let form = if self.json { Form::Json } else { self.form };
        match &self.verb {
            Verb::Measure(verb) => return verb.run(&project, form),
            Verb::Confirm(verb) => verb.measure(&project, form)?,
            Verb::Export(verb) => return verb.run(&project),
            _ => {}
        }
        let machine = project.machine(&self.machine)?;
        let view = View::new(project, machine, self.page)?;
        let printed = match &self.verb {
            Verb::List(verb) => verb.print(&view, form),
            Verb::Table(verb) => verb.print(&view, form),
            Verb::Limits(verb) => verb.print(&view, form),
            Verb::Chart(verb) => verb.print(&view, form),
            Verb::Value(verb) => verb.print(&view, form),
            Verb::Claim(verb) => verb.print(&view, form),
            Verb::Calculator(verb) => verb.print(&view, form),
            Verb::Confirm(verb) => verb.print(&view, form),
            Verb::Check(verb) => verb.print(&view),
            Verb::Measure(_) | Verb::Export(_) | Verb::Preprocess(_) | Verb::Spin(_) | Verb::Stream(_) => {
                unreachable!("done above")
            }
        };
        match std::io::stdout().write_all(printed?.as_bytes()) {
            // Whoever reads has seen enough, as `head` does.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => Ok(written?),
        }
    }
}
