//! `tally chart`: an experiment as a picture, drawn twice (wide pages and phones), with title,
//! description and downloads.

use anyhow::{Context, Result, ensure};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use crate::book::experiment::Experiment;
use crate::book::plan::Plan;
use crate::book::takeaways::Takeaway;
use crate::compute::quantity::Missing;
use crate::compute::sessions::Sessions;
use crate::print::charts::{self, Packages, Request};
use crate::print::downloads::SmallPrint;
use crate::print::escape::{html, identifier};
use crate::print::figure;
use crate::print::frame::marks_notes;
use crate::print::points::{Points, Source};
use crate::print::render::{self, Form};
use crate::print::rows::{self, Row};
use crate::print::sentences;
use crate::print::takeaways;
use crate::print::view::View;
use crate::record::freshness::Freshness;

/// An experiment as a picture
#[derive(Args)]
pub struct Chart {
    /// The experiment
    pub experiment: String,
    /// The shape
    #[arg(value_enum)]
    pub shape: Shape,
    /// What stands under it, with quantities in braces; the page on which the figure is at home
    /// says it for all others
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub caption: Option<String>,
    /// Print one picture that stands by itself, with colours of its own on white
    #[arg(long)]
    pub standalone: bool,
}

/// A shape of chart: a pair of specifications in `book/charts`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shape {
    /// A dot and its interval per cell, on a logarithmic axis
    Dots,
    /// A line with its band over a parameter that varies, or dots where only two of its values are
    /// measured
    Sweep,
    /// The share of single laps that took at most so long
    Ecdf,
    /// What a baseline explains, and what remains
    Stack,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Shape::Dots => "dots",
            Shape::Sweep => "sweep",
            Shape::Ecdf => "ecdf",
            Shape::Stack => "stack",
        }
    }

    fn points(self, source: &Source) -> Result<Points> {
        match self {
            Shape::Dots => source.dots(),
            Shape::Sweep => source.sweep(),
            Shape::Ecdf => source.ecdf(),
            Shape::Stack => source.stack(),
        }
    }
}

impl Chart {
    /// Prints the figure; at a terminal, its rows.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let (plan, experiment) = view.plans.experiment(&self.experiment)?;
        let kept = view.kept(plan, experiment)?;
        let (record, freshness) = match kept.as_ref() {
            Ok(kept) => kept,
            Err(missing) => {
                return match view.instead_on(form, missing, plan, experiment) {
                    Some(there) => Ok(render::instead_of_block(&self.print(&there, form)?, missing)),
                    None => Ok(render::missing(missing, form)),
                };
            }
        };
        if let Err(error) = is_drawn(experiment) {
            let missing = Missing::new("no chart", error.to_string());
            ensure!(form == Form::Page, error);
            return Ok(render::boxed(&missing));
        }
        let rows = Row::all(experiment, record)?;
        let points = self.shape.points(&Source { view, plan, experiment, record, rows: &rows })?;
        if self.standalone {
            let request = self.request(view, experiment, &points, &self.spoken(view, experiment)?)?;
            let drawn = view.output.pencil.draw(&view.project, &request, packages(view))?;
            return charts::standalone(&view.project, &drawn.wide);
        }
        if form != Form::Page {
            let lines = points.rows.iter().map(|row| row.to_string() + "\n");
            return Ok(lines.collect());
        }
        if points.rows.is_empty() {
            return Ok(render::boxed(&Missing::new("no chart", "none of its cells has a number; the table says why")));
        }
        self.figure(view, plan, experiment, (record, freshness), &rows, &points)
    }

    /// What is drawn, with what is said of it aloud.
    fn request(&self, view: &View, experiment: &Experiment, points: &Points, spoken: &str) -> Result<Request> {
        let titles = [("$axis", points.axis.as_str()), ("$x", points.x.as_str())];
        let description = match self.standalone {
            true => spoken.to_owned(),
            false => format!("{spoken} The table of {} has every number.", experiment.name),
        };
        let title = self.title(view, experiment, Form::Text)?;
        let aloud = format!("{title} {description}");
        let [wide, narrow] = charts::specifications(&view.project, points.shape, &points.rows, &titles, &aloud)?;
        Ok(Request { prefix: self.id(view), title, description, wide, narrow })
    }

    /// Whether there is the experiment, a caption that can be filled in, and a takeaway that says
    /// what is found.
    pub fn is_planned(&self, view: &View) -> Result<()> {
        let (_, experiment) = view.plans.experiment(&self.experiment)?;
        is_drawn(experiment)?;
        self.caption(view, experiment)?;
        self.spoken(view, experiment).context("in its caption")?;
        self.finding(view).map(drop)
    }

    /// What the figure shows, in a sentence: the takeaway of its own name, or else that of the
    /// experiment.
    pub fn finding<'a>(&self, view: &'a View) -> Result<&'a Takeaway> {
        let own = self.name();
        let found = view.front.takeaway(&own).or_else(|_| view.front.takeaway(&self.experiment));
        found.ok().with_context(|| {
            format!(
                "no takeaway says what this figure shows; in takeaways.toml of its chapter, add one with the id {own} \
                 or {}",
                self.experiment
            )
        })
    }

    /// The finding as its title; the experiment's question where its numbers are missing.
    fn title(&self, view: &View, experiment: &Experiment, form: Form) -> Result<String> {
        let said = match self.finding(view) {
            Ok(finding) => takeaways::said(view, &finding.cases, form)?.ok(),
            Err(_) => None,
        };
        Ok(said.unwrap_or_else(|| render::words(&experiment.question, form)))
    }

    /// The caption in plain words.
    fn spoken(&self, view: &View, experiment: &Experiment) -> Result<String> {
        sentences::fill(view, experiment, self.caption(view, experiment)?, Form::Text)
    }

    fn caption<'a>(&'a self, view: &'a View, experiment: &Experiment) -> Result<&'a str> {
        let own = self.name();
        self.caption.as_deref().or_else(|| view.places.caption(&own)).with_context(|| {
            let (name, shape) = (&experiment.name, self.shape.name());
            format!("this figure says no caption; write: tally chart {name} {shape} --caption \"…\"")
        })
    }

    /// The figure's id in its own chapter.
    pub fn name(&self) -> String {
        format!("{}-{}", self.experiment, self.shape.name())
    }

    /// A figure may stand on several pages, and all pages end up on one to print: elsewhere than at
    /// home, its id says where.
    fn id(&self, view: &View) -> String {
        let own = self.name();
        match view.page.as_deref() {
            Some(page) if view.places.home(&own).is_some_and(|home| home != page) => {
                format!("{}-{own}", identifier(page.trim_end_matches(".md")))
            }
            _ => own,
        }
    }

    fn figure(
        &self,
        view: &View,
        plan: &Plan,
        experiment: &Experiment,
        (record, freshness): (&Sessions, &Freshness),
        rows: &[Row],
        points: &Points,
    ) -> Result<String> {
        let name = self.shape.name();
        let spoken = self.spoken(view, experiment)?;
        let request = self.request(view, experiment, points, &spoken)?;
        let pictures = figure::pictures_or_why(view, &request, packages(view));
        let own = self.name();
        let path = format!("{}/{}/{own}", view.machine.slug(), plan.chapter);
        let file = figure::write_specification(view, &path, &request)?;
        let live = figure::write_live(view, &path, &own, &request)?;
        let command = format!("cargo tally chart {} {name}", experiment.name);
        let small = SmallPrint {
            figure: &own,
            says: &format!("{} {spoken}", request.title),
            command: &command,
            csv: &rows::csv(experiment, rows),
            more: &[("specification", file)],
        };
        let small = small.page(view, plan, experiment)?;
        let stale =
            render::freshness(freshness, experiment, &view.machine).map_or(String::new(), |note| render::boxed(&note));
        let lost = record.losses();
        let lost =
            if lost.is_empty() { String::new() } else { render::boxed(&Missing::new("failed", lost.join("; "))) };
        let doubts = marks_notes(rows.iter().map(|row| (&row.cell, &row.marks)));
        let doubts = match &doubts[..] {
            [] => String::new(),
            [doubt] => format!(" <span class=\"legend\">{}</span>", html(doubt)),
            several => format!(
                " <span class=\"legend\">{} doubts stand under <a href=\"{}\">the table</a>.</span>",
                several.len(),
                view.link_to(plan, experiment)
            ),
        };
        let caption = sentences::fill(view, experiment, self.caption(view, experiment)?, Form::Page)?;
        Ok(format!(
            "<figure class=\"figure\" id=\"{}\" data-chart=\"{own}\" data-live=\"{live}\">\n<p class=\"finding\">{}\
             </p>\n<p class=\"marks\">{}</p>\n\
             {stale}{lost}{pictures}<figcaption>{caption}{doubts}</figcaption>\n{small}</figure>\n",
            request.prefix,
            self.title(view, experiment, Form::Page)?,
            points.legend
        ))
    }
}

/// A build fetches them before its first page.
fn packages(view: &View) -> Packages {
    if view.page.is_some() { Packages::AsTheyAre } else { Packages::Fetch }
}

/// What was counted by a tool is exact, and a table says it.
fn is_drawn(experiment: &Experiment) -> Result<()> {
    let name = &experiment.name;
    ensure!(experiment.count.is_none(), "experiment {name} counts and times nothing; its numbers: tally table {name}");
    Ok(())
}
