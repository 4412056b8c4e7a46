//! `tally figure`: a figure of `takeaways.toml` by its name: the ladder of the front page, two that
//! are compared, or a dot for each machine.

mod dumbbell;
mod ladder;
mod scatter;

use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::Value;

use crate::book::takeaways::{self, LADDER};
use crate::print::downloads::{self, BOOK};
use crate::print::figure::Figure as Drawn;
use crate::print::render::Form;
use crate::print::view::View;
use crate::record::{self, Header};

/// A figure that compares, by its name: rungs of the ladder, two costs, or machines
#[derive(Args)]
pub struct Figure {
    /// Its name, which is that of the takeaway that is its title
    pub name: String,
    /// Only say what it found
    #[arg(long)]
    pub finding: bool,
    /// Print one picture that stands by itself, with colours of its own on white
    #[arg(long, conflicts_with = "finding")]
    pub standalone: bool,
}

/// What every kind of figure can do.
trait Plot {
    /// What it found, or what it is about where that cannot be said.
    fn finding(&self, view: &View, form: Form) -> Result<String>;

    /// What a page shows.
    fn figure(&self, view: &View) -> Result<Drawn<'_>>;

    /// Its numbers at a terminal.
    fn numbers(&self, view: &View, form: Form) -> Result<String>;

    /// Whether all that it says is known.
    fn is_known(&self, view: &View) -> Result<()>;
}

impl Figure {
    /// Prints it.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let plot = self.plot(view)?;
        match form {
            _ if self.standalone => plot.figure(view)?.standalone(view),
            Form::Page if self.finding => plot.finding(view, form),
            Form::Page => plot.figure(view)?.page(view),
            Form::Text | Form::Json if self.finding => Ok(plot.finding(view, form)? + "\n"),
            Form::Text | Form::Json => plot.numbers(view, form),
        }
    }

    /// Whether it is planned, and all its numbers are known.
    pub fn is_known(&self, view: &View) -> Result<()> {
        self.plot(view)?.is_known(view)
    }

    fn plot<'a>(&self, view: &'a View) -> Result<Box<dyn Plot + 'a>> {
        let front = &view.front;
        let dumbbell = front.dumbbells.iter().find(|own| own.name == self.name);
        let scatter = front.scatters.iter().find(|own| own.name == self.name);
        Ok(match (dumbbell, scatter) {
            (Some(planned), _) => Box::new(dumbbell::Dumbbell { planned }),
            (None, Some(planned)) => Box::new(scatter::Scatter { planned }),
            (None, None) if self.name == LADDER && !front.ladder.is_empty() => Box::new(ladder::Ladder),
            (None, None) => bail!(takeaways::unknown("figure", &self.name, front.figures())),
        })
    }
}

/// Rows of a figure for a script, a line each.
fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| row.to_string() + "\n").collect()
}

/// How to cite a figure: what it says, of which machines, and when that was measured; nothing where
/// nothing was.
fn cite(view: &View, chapter: &str, name: &str, said: &str, of: &str, headers: &[Arc<Header>]) -> String {
    if headers.is_empty() {
        return String::new();
    }
    let headers = || headers.iter().map(|header| &**header);
    let (days, efforts) = (record::days(headers()), record::efforts(headers()));
    let text = format!("{said} {BOOK} {name}. {of}; measured {days}, effort {efforts}.");
    downloads::citation(view, chapter, name, &text)
}
