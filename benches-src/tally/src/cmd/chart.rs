//! `tally chart`: an experiment as a picture, drawn twice (wide pages and phones), with title, description and downloads.

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::table::{Row, shared_parameters};
use crate::charts::{self, Request};
use crate::downloads;
use crate::escape::{html, identifier};
use crate::expression::Expression;
use crate::format::Scale;
use crate::plan::{Experiment, Plan, select};
use crate::project::Machine;
use crate::quantity::Missing;
use crate::record::Record;
use crate::render::{self, Form};
use crate::sources::Freshness;
use crate::view::View;

/// An experiment as a picture
#[derive(Args)]
pub struct Chart {
    /// The experiment
    pub experiment: String,
    /// The shape
    #[arg(value_enum)]
    pub shape: Shape,
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
        if form != Form::Page {
            let lines = points.rows.iter().map(|row| row.to_string() + "\n");
            return Ok(lines.collect());
        }
        if points.rows.is_empty() {
            return Ok(render::boxed(&Missing::new("no chart", "none of its cells has a number; the table says why")));
        }
        self.figure(view, plan, experiment, freshness, &points)
    }

    fn figure(
        &self,
        view: &View,
        plan: &Plan,
        experiment: &Experiment,
        freshness: &Freshness,
        points: &Points,
    ) -> Result<String> {
        let axis = format!("{} per {} (logarithmic)", points.scale.name, experiment.per);
        let name = self.shape.name();
        let specification = |name: &str| charts::specification(&view.project, name, &points.rows, &axis);
        let wide = specification(name)?;
        let caption = render::fill(view, plan, experiment, &experiment.caption, Form::Page)?;
        let spoken = render::fill(view, plan, experiment, &experiment.caption, Form::Text)?;
        let id = format!("{}-{name}", experiment.name);
        let request = Request {
            prefix: identifier(&id),
            title: experiment.question.clone(),
            description: format!("{spoken} The table after the figure has every number."),
            wide: wide.clone(),
            narrow: specification(&format!("{name}-narrow"))?,
        };
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
        let file = format!("{}/{}/{id}.vl.json", view.machine.slug(), plan.chapter);
        let file = downloads::write(view, &file, &(serde_json::to_string_pretty(&wide)? + "\n"))?;
        let command = format!("cargo tally chart {} {name}", experiment.name);
        let small = downloads::small_line_with(view, plan, experiment, &command, &[("specification", file)])?;
        let stale = render::freshness(freshness, experiment).map_or(String::new(), |note| render::boxed(&note));
        Ok(format!(
            "<figure class=\"figure\" id=\"{id}\">\n{stale}{pictures}<figcaption>{caption} {}</figcaption>\n{small}</figure>\n",
            points.legend
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
    let measured = |row: &&Row| row.elapsed.is_ok();
    let medians = rows.iter().filter_map(|row| row.elapsed.as_ref().ok()).map(|quantity| quantity.estimate.median);
    let scale = Scale::of(medians.fold(0.0, f64::max));
    let beside = match view.beside() {
        Some(machine) => Some((machine.clone(), view.kept_on(&machine, plan, experiment)?)),
        None => None,
    };
    let mut points = Vec::new();
    let (mut with_beside, mut with_published) = (false, false);
    for row in rows.iter().filter(measured) {
        let label = format!("{} · {}", row.cell.label(&shared), row.cell.placement);
        let kind = experiment.group(&row.cell.program).map(|group| group.kind);
        let point = |who: &str, median: f64, interval: Option<(f64, f64)>, note: &str| {
            let (low, high) = interval.unwrap_or((median, median));
            json!({
                "label": label, "kind": kind, "who": who, "note": note,
                "median": median / scale.ns, "low": low / scale.ns, "high": high / scale.ns,
            })
        };
        let quantity = row.elapsed.as_ref().expect("filtered");
        points.push(point("here", quantity.estimate.median, quantity.estimate.interval, ""));
        if let Some((_, kept)) = &beside
            && let Ok((record, Freshness::Fresh | Freshness::Older(_))) = kept.as_ref()
            && let Ok(quantity) = record.evaluate(&Expression::parse(&row.cell.to_string())?)?
        {
            with_beside = true;
            points.push(point("reference", quantity.estimate.median, quantity.estimate.interval, ""));
        }
        for (_, figure) in view.published.figures() {
            let Some(text) = &figure.beside else { continue };
            let Expression::Leaf(selector) = Expression::parse(text)? else { continue };
            let cells = std::slice::from_ref(&row.cell);
            if select(cells, &selector).is_ok() {
                with_published = true;
                points.push(point("published", figure.value, None, &figure.label));
            }
        }
    }
    let mut legend = format!("<span class=\"legend\">● {}", html(view.machine.name()));
    if with_beside && let Some((Machine::Exported(slug), _)) = &beside {
        legend += &format!(", ○ {} (reference)", html(slug));
    }
    if with_published {
        legend += ", ◇ published by others on their machines, without an interval";
    }
    legend += "; the thick line is the 95 % interval.</span>";
    Ok(Points { rows: points, scale, legend })
}
