//! A number of every machine beside another that may follow it, a dot for each machine, and beside
//! both a third that may not.

mod found;
mod marks;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;

use super::{Plot, cite, lines};
use crate::book::quantities::Asked;
use crate::book::scatter::Scatter as Planned;
use crate::compute::quantity::{Measured, Missing};
use crate::print::escape::{html, identifier};
use crate::print::figure::Figure;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::scatter::{DRAWN, Point, X};
use crate::print::table::{Cell, Table, csv, csv_heads, csv_numbers};
use crate::print::view::View;
use crate::record::Header;

/// Every machine as a dot: what one number costs there, and what another.
pub struct Scatter<'a> {
    pub planned: &'a Planned,
}

/// What is asked of each machine, with its head.
type Heads<'a> = [(String, Asked<'a>)];

/// The same, and what each machine has of it.
type Seen<'a> = (Vec<(String, Asked<'a>)>, Vec<Point>);

impl Plot for Scatter<'_> {
    fn finding(&self, view: &View, form: Form) -> Result<String> {
        let (_, points) = self.seen(view)?;
        Ok(render::words(&found::finding(self.planned, &points), form))
    }

    fn figure(&self, view: &View) -> Result<Figure<'_>> {
        let (asked, points) = &self.seen(view)?;
        let Planned { name, what, x, y, control, .. } = self.planned;
        let upwards = format!("{}, and {}", y.label, control.label);
        let finding = &found::finding(self.planned, points);
        Ok(Figure {
            name,
            file: name.clone(),
            shape: "scatter",
            title: what,
            spoken: format!("{finding} {}", found::aloud(self.planned, points)),
            titles: vec![("$x", x.label.clone()), ("$y", upwards), ("$control", control.label.clone())],
            finding: html(finding),
            key: key(view, self.planned, points),
            caption: format!(
                "<span class=\"legend\">{}</span>",
                html(&format!("{what}. {}", found::lacking(asked, points)))
            ),
            stale: stale(view, asked)?,
            table: table(view, self.planned, asked, points)?,
            csv: lines_of(self.planned, asked, points),
            cite: cite_of(view, self.planned, asked, points, finding)?,
            marks: marks::all(view, self.planned, points),
        })
    }

    fn numbers(&self, view: &View, form: Form) -> Result<String> {
        let (asked, points) = self.seen(view)?;
        Ok(match form {
            Form::Json => lines(&points.iter().map(|point| json(point, &asked)).collect::<Vec<_>>()),
            _ => format!("{}\n{}", found::finding(self.planned, &points), text(self.planned, &asked, &points)),
        })
    }

    fn is_known(&self, view: &View) -> Result<()> {
        self.planned.is_known(&view.plans)
    }
}

impl Scatter<'_> {
    fn seen<'a>(&self, view: &'a View) -> Result<Seen<'a>> {
        let asked = self.planned.asked(&view.plans)?;
        let points = Point::all(view, self.planned, &asked)?;
        Ok((asked, points))
    }
}

fn text(planned: &Planned, asked: &Heads, points: &[Point]) -> String {
    let mut out = format!("{}:\n", planned.what);
    for point in points {
        out += &format!("  {}\n", point.machine.name());
        for ((head, _), number) in asked.iter().zip(&point.numbers) {
            out += &format!("    {head}: {}\n", render::plain(number));
        }
        for (name, fact) in planned.facts.iter().zip(&point.facts) {
            out +=
                &format!("    {name}: {}\n", fact.as_ref().map_or_else(|missing| format!("({missing})"), Clone::clone));
        }
    }
    out
}

fn json(point: &Point, asked: &Heads) -> serde_json::Value {
    let numbers = asked.iter().zip(&point.numbers).map(|((_, asked), number)| {
        let state = if number.is_ok() { "measured" } else { "missing" };
        render::json(&asked.expression.to_string(), number, point.machine.slug(), state)
    });
    serde_json::json!({ "machine": point.machine.slug(), "numbers": numbers.collect::<Vec<_>>() })
}

/// What the marks are, drawn with them.
fn key(view: &View, planned: &Planned, points: &[Point]) -> String {
    let series = [&planned.y, &planned.control];
    let [y, control] =
        series.map(|own| format!("<span class=\"key {}\">{}</span>", own.series.word(), html(&own.label)));
    let is_here = points.iter().any(|point| point.machine == view.machine && point.x().is_some());
    let large = format!("large: {}{}; ", html(view.machine.name()), view.reference_mark(&view.machine));
    format!(
        "Each machine has a dot for {y} and another for {control}; {}thin lines: 95 % intervals; dashed: the middle \
         ratio; logarithmic scales",
        if is_here { large } else { String::new() }
    )
}

/// What the machine that is shown measured of other programs than those that are shown.
fn stale(view: &View, asked: &Heads) -> Result<String> {
    let mut boxes = BTreeMap::new();
    for (head, asked) in asked {
        if let Some(note) = render::stale(view, asked)? {
            boxes.insert(asked.experiment.name.as_str(), format!("{head}: {}", note.reason));
        }
    }
    let boxed = |reason| render::boxed(&Missing::new("stale", reason));
    Ok(boxes.into_values().map(boxed).collect())
}

/// Every number of every machine, and under them what is known of each.
fn table(view: &View, planned: &Planned, asked: &Heads, points: &[Point]) -> Result<String> {
    let heads = ["machine"].into_iter().chain(asked.iter().map(|(head, _)| head.as_str()));
    let mut numbers = Table::new(&planned.what, heads);
    let heads = ["machine"].into_iter().chain(planned.facts.iter().map(String::as_str));
    let mut facts = Table::new("What is known of each machine", heads);
    for point in points {
        let cells = asked.iter().zip(&point.numbers);
        let cells = cells.map(|((_, asked), number)| Ok(Cell::html(number_of(view, point, asked, number)?)));
        numbers.row(machine(view, point), cells.collect::<Result<Vec<_>>>()?);
        let fact = |own: &Result<String, _>| own.as_ref().map_or_else(render::boxed_inline, |value| html(value));
        facts.row(machine(view, point), point.facts.iter().map(|own| Cell::words(fact(own))));
    }
    Ok(numbers.page() + &if planned.facts.is_empty() { String::new() } else { facts.page() })
}

fn machine(view: &View, point: &Point) -> String {
    let (place, slug) = (view.way_to("machines.md"), html(point.machine.slug()));
    let mark = view.reference_mark(&point.machine);
    format!("<a href=\"{place}#machine-{slug}\">{}</a>{mark}", html(point.machine.name()))
}

/// The numbers of the machine that is shown lead to their tables.
fn number_of(view: &View, point: &Point, asked: &Asked, number: &Measured) -> Result<String> {
    Ok(match number {
        _ if point.machine == view.machine => render::inline(view, asked, number)?,
        Ok(quantity) => render::in_table(&format::quantity(quantity)),
        Err(missing) => render::boxed_inline(missing),
    })
}

fn lines_of(planned: &Planned, asked: &Heads, points: &[Point]) -> String {
    let head = |(label, _): &(String, Asked)| csv_heads(&identifier(label).replace('-', "_"));
    let heads = ["machine".to_owned()].into_iter().chain(asked.iter().flat_map(head));
    let heads = heads.chain(planned.facts.iter().cloned()).chain(["unit", "missing"].map(str::to_owned));
    let line = |point: &Point| {
        let numbers = point.numbers.iter().map(|number| number.as_ref().ok().map(|number| number.estimate));
        let facts = point.facts.iter().map(|fact| fact.clone().unwrap_or_default());
        let lacking = point.lacking().map(|(place, missing)| format!("{}: {missing}", asked[place].0));
        let fields = [point.machine.slug().to_owned()].into_iter().chain(numbers.flat_map(csv_numbers));
        let last = ["times in ns".to_owned(), lacking.collect::<Vec<_>>().join("; ")];
        fields.chain(facts).chain(last).collect()
    };
    csv([heads.collect::<Vec<_>>()].into_iter().chain(points.iter().map(line)))
}

/// How to cite it: what it says, and of which machines.
fn cite_of(view: &View, planned: &Planned, asked: &Heads, points: &[Point], finding: &str) -> Result<String> {
    let (mut headers, mut machines): (Vec<Arc<Header>>, Vec<&str>) = Default::default();
    for point in points.iter().filter(|point| point.x().is_some()) {
        machines.push(point.machine.name());
        for place in DRAWN {
            let Asked { plan, experiment, .. } = &asked[place].1;
            headers.extend(view.header_on(&point.machine, plan, experiment)?.map(|(header, _)| header));
        }
    }
    let of = format!("Machines: {}", machines.join(", "));
    Ok(cite(view, &asked[X].1.plan.chapter, &planned.name, finding, &of, &headers))
}
