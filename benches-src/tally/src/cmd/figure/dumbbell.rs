//! Two that are compared, a row for each thing that they do: a dot for each of the two on one axis,
//! and the factor between them.

mod marks;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Plot, cite, lines};
use crate::book::takeaways::{Dumbbell as Planned, Party};
use crate::book::unit::Unit;
use crate::print::comparison::{Columns, Compared, Side, Three, stale};
use crate::print::escape::html;
use crate::print::figure::Figure;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::takeaways;
use crate::print::view::View;
use crate::record::Header;

/// Two that are compared, in several things that they do.
pub struct Dumbbell<'a> {
    pub planned: &'a Planned,
}

impl Plot for Dumbbell<'_> {
    fn finding(&self, view: &View, form: Form) -> Result<String> {
        let said = takeaways::said(view, &view.front.takeaway(&self.planned.name)?.cases, form)?;
        Ok(said.unwrap_or_else(|_| render::words(&self.planned.what, form)))
    }

    fn figure(&self, view: &View) -> Result<Figure<'_>> {
        let compared = self.compared(view)?;
        let planned = self.planned;
        let Planned { name, what, left, right, .. } = planned;
        let marks = marks::all(view, planned, &compared);
        let (ratio, spoken) = (format!("{} ÷ {}", right.label, left.label), self.finding(view, Form::Text)?);
        let sides = [(left.label.as_str(), Side::Left), (right.label.as_str(), Side::Right)];
        let columns = Columns { title: what, sides, ratio: &ratio };
        Ok(Figure {
            name,
            file: format!("{name}-dumbbell"),
            shape: "dumbbell",
            title: what,
            cite: cite_of(view, name, &spoken, &compared)?,
            spoken: format!("{spoken} {}", aloud(planned, &compared)),
            titles: Vec::new(),
            finding: self.finding(view, Form::Page)?,
            key: key(planned, &marks),
            caption: format!(
                "<span class=\"legend\">{}. ×: {}. Measured on {}.</span>",
                html(what),
                html(&ratio),
                html(&view.phrase(&view.machine))
            ),
            marks,
            stale: stale(view, &compared)?,
            table: columns.table(view, &compared)?,
            csv: columns.csv(view, &compared)?,
        })
    }

    fn numbers(&self, view: &View, form: Form) -> Result<String> {
        let compared = self.compared(view)?;
        if form == Form::Json {
            Ok(lines(&marks::all(view, self.planned, &compared)))
        } else {
            self.text(view, &compared)
        }
    }

    /// Whether it has a title, and all its numbers are known and can stand on one axis.
    fn is_known(&self, view: &View) -> Result<()> {
        let planned = self.planned;
        view.front.takeaway(&planned.name).context("a dumbbell's title is the takeaway of its name")?;
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
}

impl<'a> Dumbbell<'a> {
    fn compared(&self, view: &'a View) -> Result<Vec<Compared<'a>>> {
        self.planned.rows.iter().map(|pair| Compared::of(view, pair)).collect()
    }

    fn text(&self, view: &View, compared: &[Compared]) -> Result<String> {
        let planned = self.planned;
        let mut out = format!("{}\n{}:\n", self.finding(view, Form::Text)?, planned.what);
        let (left, right) = (&planned.left.label, &planned.right.label);
        for Compared { pair, here, .. } in compared {
            let [first, second, ratio] = [&here.left, &here.right, &here.ratio].map(render::plain);
            out += &format!("  {}, {}\n    {left} {first}, {right} {second}: × {ratio}\n", pair.label, pair.detail);
        }
        Ok(out)
    }
}

/// What the marks are, drawn with them.
fn key(planned: &Planned, marks: &[Value]) -> String {
    let party = |party: &Party| format!("<span class=\"key {}\">{}</span>", party.series.word(), html(&party.label));
    let is_pale = marks.iter().any(|mark| mark["who"] == "other");
    let pale = if is_pale { "; pale: other machines" } else { "" };
    let lacks = marks.iter().any(|mark| mark["pale"] == true);
    let rows = if lacks { "; pale rows: not measured here" } else { "" };
    format!(
        "{} and {}; thick: 95 % interval{pale}{rows}; logarithmic scale",
        party(&planned.left),
        party(&planned.right)
    )
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
fn cite_of(view: &View, name: &str, said: &str, compared: &[Compared]) -> Result<String> {
    let mut headers: Vec<Arc<Header>> = Vec::new();
    for Compared { asked: Three { ratio, .. }, .. } in compared {
        headers.extend(view.header_on(&view.machine, ratio.plan, ratio.experiment)?.map(|(header, _)| header));
    }
    let chapter = compared.first().map_or("", |first| &first.asked.ratio.plan.chapter);
    let summary = headers.first().map_or(String::new(), |header| header.machine.summary());
    let of = format!("Machine {}: {summary}", view.machine.name());
    Ok(cite(view, chapter, name, said, &of, &headers))
}
