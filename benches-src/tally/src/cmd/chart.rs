//! `tally chart`: an experiment as a picture, drawn twice (wide pages and phones), with title, description and downloads.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::table::{Row, shared_parameters};
use crate::charts::{self, Request};
use crate::downloads;
use crate::escape::{html, identifier};
use crate::expression::Expression;
use crate::format::Scale;
use crate::plan::{Experiment, Plan};
use crate::project::Machine;
use crate::quantity::Missing;
use crate::record::Record;
use crate::render::{self, Form};
use crate::sources::Freshness;
use crate::statistics::Estimate;
use crate::view::View;

/// An experiment as a picture
#[derive(Args)]
pub struct Chart {
    /// The experiment
    pub experiment: String,
    /// The shape
    #[arg(value_enum)]
    pub shape: Shape,
    /// Print one picture that stands by itself, with colours of its own on white
    #[arg(long)]
    pub standalone: bool,
}

/// A shape of chart: a pair of specifications in `book/charts`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shape {
    /// A dot and its interval per cell, on a logarithmic axis
    Dots,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Shape::Dots => "dots",
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
            Err(missing) if form == Form::Page => return Ok(render::boxed(missing)),
            Err(missing) => return Ok(format!("({}: {})\n", missing.word, missing.reason)),
        };
        let points = points(view, plan, experiment, record)?;
        if self.standalone {
            let drawn = charts::draw(&view.project, &self.request(view, plan, experiment, &points)?)?;
            return charts::standalone(&view.project, &drawn.wide);
        }
        if form != Form::Page {
            let lines = points.rows.iter().map(|row| row.to_string() + "\n");
            return Ok(lines.collect());
        }
        if points.rows.is_empty() {
            return Ok(render::boxed(&Missing::new("no chart", "none of its cells has a number; the table says why")));
        }
        self.figure(view, plan, experiment, freshness, &points)
    }

    fn request(&self, view: &View, plan: &Plan, experiment: &Experiment, points: &Points) -> Result<Request> {
        let axis = format!("{} per {} (logarithmic)", points.scale.name, experiment.per);
        let specification = |name: &str| charts::specification(&view.project, name, &points.rows, &axis);
        let spoken = render::fill(view, plan, experiment, &experiment.caption, Form::Text)?;
        Ok(Request {
            prefix: self.id(view, plan, experiment),
            title: experiment.question.clone(),
            description: format!("{spoken} The table after the figure has every number."),
            wide: specification(self.shape.name())?,
            narrow: specification(&format!("{}-narrow", self.shape.name()))?,
        })
    }

    /// A figure may stand on several pages, and all pages end up on one to print: elsewhere than in its chapter, its id says
    /// where.
    fn id(&self, view: &View, plan: &Plan, experiment: &Experiment) -> String {
        let own = format!("{}-{}", experiment.name, self.shape.name());
        match &view.page {
            Some(page) if *page != plan.chapter => format!("{}-{own}", identifier(page)),
            _ => own,
        }
    }

    fn figure(
        &self,
        view: &View,
        plan: &Plan,
        experiment: &Experiment,
        freshness: &Freshness,
        points: &Points,
    ) -> Result<String> {
        let name = self.shape.name();
        let request = self.request(view, plan, experiment, points)?;
        let pictures = match charts::draw(&view.project, &request) {
            Ok(drawn) => format!(
                "<div class=\"picture wide-only\">{}</div>\n<div class=\"picture narrow-only\">{}</div>\n",
                drawn.wide, drawn.narrow
            ),
            Err(error) => {
                eprintln!("tally: warning: {error:#}");
                render::boxed(&Missing::new("no chart", format!("{error}")))
            }
        };
        let file = format!("{}/{}/{}-{name}.vl.json", view.machine.slug(), plan.chapter, experiment.name);
        let file = downloads::write(view, &file, &(serde_json::to_string_pretty(&request.wide)? + "\n"))?;
        let command = format!("cargo tally chart {} {name}", experiment.name);
        let small = downloads::small_line_with(view, plan, experiment, &command, &[("specification", file)])?;
        let stale = render::freshness(freshness, experiment).map_or(String::new(), |note| render::boxed(&note));
        let caption = render::fill(view, plan, experiment, &experiment.caption, Form::Page)?;
        Ok(format!(
            "<figure class=\"figure\" id=\"{}\">\n{stale}{pictures}<figcaption>{caption} {}</figcaption>\n{small}</figure>\n",
            request.prefix, points.legend
        ))
    }
}

/// Tidy rows: one point each, on one scale.
struct Points {
    rows: Vec<Value>,
    scale: Scale,
    legend: String,
}

fn points(view: &View, plan: &Plan, experiment: &Experiment, record: &Record) -> Result<Points> {
    let rows = Row::all(experiment, record)?;
    let shared = shared_parameters(&rows);
    let medians = rows.iter().filter_map(|row| row.elapsed.as_ref().ok()).map(|quantity| quantity.estimate.median);
    let scale = Scale::of(medians.fold(0.0, f64::max));
    let reference = match view.beside() {
        Some(machine) => Some((machine.clone(), view.kept_on(&machine, plan, experiment)?)),
        None => None,
    };
    let mut points = Vec::new();
    let mut publications = BTreeSet::new();
    for row in &rows {
        let Ok(quantity) = &row.elapsed else { continue };
        let label = format!("{} · {}", row.cell.label(&shared), row.cell.placement);
        let kind = experiment.group(&row.cell.program).map(|group| group.kind);
        let point = |who: &str, Estimate { median, interval, .. }: Estimate, note: &str| {
            let (low, high) = interval.unwrap_or((median, median));
            json!({
                "label": label, "kind": kind, "who": who, "note": note,
                "median": median / scale.ns, "low": low / scale.ns, "high": high / scale.ns,
            })
        };
        points.push(point("here", quantity.estimate, ""));
        if let Some((_, kept)) = &reference
            && let Ok((record, Freshness::Fresh | Freshness::Older(_))) = kept.as_ref()
            && let Ok(quantity) = record.evaluate(&Expression::parse(&row.cell.to_string())?)?
        {
            points.push(point("reference", quantity.estimate, ""));
        }
        for (publication, figure) in view.published.beside(&row.cell)? {
            let alone = Estimate { median: figure.value, interval: None, rounds: 0 };
            points.push(point("published", alone, &figure.label));
            publications.insert(format!("{} ({}; {})", figure.label, figure.machine, publication.title));
        }
    }
    let with_reference = points.iter().any(|point| point["who"] == "reference");
    let reference = reference.filter(|_| with_reference).map(|(machine, _)| machine);
    let legend = legend(&view.machine, reference.as_ref(), &publications);
    Ok(Points { rows: points, scale, legend })
}

fn legend(shown: &Machine, reference: Option<&Machine>, publications: &BTreeSet<String>) -> String {
    let mut marks = vec![format!("● {}", html(shown.name()))];
    marks.extend(reference.map(|machine| format!("○ {} (reference)", html(machine.name()))));
    if !publications.is_empty() {
        let publications: Vec<&str> = publications.iter().map(String::as_str).collect();
        marks.push(format!("◇ published without an interval: {}", html(&publications.join(", "))));
    }
    format!("<span class=\"legend\">{}. The thick line is the 95 % interval.</span>", marks.join("; "))
}
