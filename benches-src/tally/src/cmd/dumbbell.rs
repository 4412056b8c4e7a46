//! `tally dumbbell`: two that are compared, a row for each thing that they do: a dot for each of the two on one axis, and the factor between them.

mod marks;

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::book::unit::Unit;
use crate::print::comparison::{Columns, Compared, Side, Three, stale};
use crate::print::downloads::{self, BOOK};
use crate::print::escape::html;
use crate::print::figure::Figure;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::takeaways::{self, Dumbbell as Planned, Party};
use crate::print::view::View;
use crate::record::{self, Header};

/// Two that are compared, in several things that they do
#[derive(Args)]
pub struct Dumbbell {
    /// Its name, which is that of the takeaway that is its title
    pub name: String,
}

impl Dumbbell {
    /// Prints the figure; at a terminal its numbers.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let planned = view.front.dumbbell(&self.name)?;
        let compared = planned.rows.iter().map(|pair| Compared::of(view, pair)).collect::<Result<Vec<_>>>()?;
        let marks = marks::all(view, planned, &compared);
        match form {
            Form::Page => self.figure(view, planned, &compared, marks),
            Form::Text => self.text(view, planned, &compared),
            Form::Json => Ok(marks.iter().map(|row| row.to_string() + "\n").collect()),
        }
    }

    /// Whether it is planned, has a title, and all its numbers are known and can stand on one axis.
    pub fn is_known(&self, view: &View) -> Result<()> {
        let planned = view.front.dumbbell(&self.name)?;
        view.front.takeaway(&self.name).context("a dumbbell's title is the takeaway of its name")?;
        let units = planned.rows.iter().flat_map(|pair| [&pair.left, &pair.right]).map(|name| view.plans.unit(name));
        let units = units.map(|unit| Ok(unit?.to_string())).collect::<Result<BTreeSet<String>>>()?;
        ensure!(
            units.len() <= 1,
            "its numbers have different units: {}",
            units.into_iter().collect::<Vec<_>>().join(", ")
        );
        for pair in &planned.rows {
            let of = view.plans.unit(&pair.ratio)?;
            ensure!(of == Unit::Ratio, "{} is no ratio: its unit is {of}", pair.ratio);
        }
        Ok(())
    }

    /// What it found, or what it is about where that cannot be said.
    fn finding(&self, view: &View, planned: &Planned, form: Form) -> Result<String> {
        let said = takeaways::said(view, &view.front.takeaway(&self.name)?.cases, form)?;
        Ok(said.unwrap_or_else(|_| render::words(&planned.what, form)))
    }

    fn text(&self, view: &View, planned: &Planned, compared: &[Compared]) -> Result<String> {
        let mut out = format!("{}\n{}:\n", self.finding(view, planned, Form::Text)?, planned.what);
        let (left, right) = (&planned.left.label, &planned.right.label);
        for Compared { pair, here, .. } in compared {
            let [first, second, ratio] = [&here.left, &here.right, &here.ratio].map(render::plain);
            out += &format!("  {}, {}\n    {left} {first}, {right} {second}: × {ratio}\n", pair.label, pair.detail);
        }
        Ok(out)
    }

    fn figure(&self, view: &View, planned: &Planned, compared: &[Compared], marks: Vec<Value>) -> Result<String> {
        let Planned { name, what, left, right, .. } = planned;
        let (ratio, spoken) = (format!("{} ÷ {}", right.label, left.label), self.finding(view, planned, Form::Text)?);
        let columns =
            Columns { title: what, sides: [(&left.label, Side::Left), (&right.label, Side::Right)], ratio: &ratio };
        let figure = Figure {
            name,
            file: &format!("{name}-dumbbell"),
            shape: "dumbbell",
            title: what,
            cite: cite(view, name, &spoken, compared)?,
            spoken: format!("{spoken} {}", aloud(planned, compared)),
            titles: &[],
            command: &format!("cargo tally dumbbell {name}"),
            above: format!(
                "<p class=\"finding\">{}</p>\n<p class=\"marks\">{}</p>\n",
                self.finding(view, planned, Form::Page)?,
                key(planned, &marks)
            ),
            caption: format!(
                "<span class=\"legend\">{}. ×: {}. Measured on {}.</span>",
                html(what),
                html(&ratio),
                html(&view.phrase(&view.machine))
            ),
            marks,
            stale: stale(view, compared)?,
            table: columns.table(view, compared)?,
            csv: columns.csv(view, compared)?,
        };
        figure.page(view)
    }
}

/// What the marks are, drawn with them.
fn key(planned: &Planned, marks: &[Value]) -> String {
    let party = |party: &Party| format!("<span class=\"key {}\">{}</span>", party.series.word(), html(&party.label));
    let is_pale = marks.iter().any(|mark| mark["who"] == "other");
    let pale = if is_pale { "; pale: other machines" } else { "" };
    format!("{} and {}; thick: 95 % interval{pale}; logarithmic scale", party(&planned.left), party(&planned.right))
}

fn aloud(planned: &Planned, compared: &[Compared]) -> String {
    let words = |Compared { pair, here, .. }: &Compared| {
        let Three { left: Ok(left), right: Ok(right), ratio: Ok(ratio) } = here else { return None };
        let [left, right, ratio] = [left, right, ratio].map(format::rough);
        let (one, other) = (&planned.left.label, &planned.right.label);
        Some(format!("{}, {}: {one} {left}, {other} {right}, {ratio} times as much.", pair.label, pair.detail))
    };
    compared.iter().filter_map(words).collect::<Vec<_>>().join(" ")
}

/// How to cite it: what it says, and where that was measured.
fn cite(view: &View, name: &str, said: &str, compared: &[Compared]) -> Result<String> {
    let mut headers: Vec<Header> = Vec::new();
    for Compared { asked: Three { ratio, .. }, .. } in compared {
        headers.extend(view.header_on(&view.machine, ratio.plan, ratio.experiment)?.map(|(header, _)| header));
    }
    let (Some(header), Some(first)) = (headers.first(), compared.first()) else { return Ok(String::new()) };
    let text = format!(
        "{said} {BOOK} {name}. Machine {}: {}; measured {}, effort {}.",
        view.machine.name(),
        header.machine.summary(),
        record::days(&headers),
        record::efforts(&headers)
    );
    Ok(downloads::citation(view, &first.asked.ratio.plan.chapter, name, &text))
}
