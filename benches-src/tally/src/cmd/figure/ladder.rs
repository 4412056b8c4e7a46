//! The ladder: what a thread costs over what a task costs, for one kind of cost after the other,
//! here and on every other machine.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Plot, lines};
use crate::book::takeaways::{LADDER, Pair};
use crate::compute::quantity::{Measured, Quantity};
use crate::print::comparison::{Columns, Compared, Side, stale};
use crate::print::figure::Figure;
use crate::print::format;
use crate::print::points::with;
use crate::print::render::Form;
use crate::print::takeaways;
use crate::print::view::View;
use crate::project::Machine;

/// A thread's cost over a task's, from holding one to answering a request.
pub struct Ladder;

/// The marks of a row: one for this machine, and one for each other; none where this machine has no
/// number.
fn marks(own: &Compared, machine: &Machine) -> Vec<Value> {
    let Ok(here) = &own.here.ratio else { return Vec::new() };
    let Pair { label, detail, .. } = own.pair;
    let (low, high) = here.estimate.interval.unzip();
    let medians = own.ratios_elsewhere().map(|(_, other)| other.estimate.median);
    // Its words stand beyond all marks of the row, the end of its interval too.
    let farthest = medians.fold(high.unwrap_or(here.estimate.median), f64::max);
    let words = |measured: &Measured| measured.as_ref().map_or("–".to_owned(), format::rough);
    let of_any = |who: &str, machine: &Machine, ratio: &Quantity| {
        let interval = format::quantity(ratio).interval_or_none().to_owned();
        json!({
            "row": format!("{label}, {detail}"), "label": label, "detail": detail,
            "who": who, "machine": machine.name(),
            "ratio": ratio.estimate.median, "said": format!("{}×", format::rough(ratio)), "interval": interval,
        })
    };
    let first = json!({
        "equal": 1, "low": low, "high": high,
        // The larger is who costs more.
        "kind": if here.estimate.median >= 1.0 { "task" } else { "thread" },
        "text_at": farthest.max(1.0), "thread": words(&own.here.right), "task": words(&own.here.left),
    });
    let first = with(of_any("here", machine, here), first);
    let others = own.ratios_elsewhere().map(|(machine, ratio)| of_any("other", machine, ratio));
    [first].into_iter().chain(others).collect()
}

impl Plot for Ladder {
    /// What is not measured has no finding.
    fn finding(&self, view: &View, form: Form) -> Result<String> {
        Ok(takeaways::said(view, &view.front.takeaway(LADDER)?.cases, form)?.unwrap_or_default())
    }

    fn figure(&self, view: &View) -> Result<Figure<'_>> {
        let compared = compared(view)?;
        let marks = linked_marks(view, &compared)?;
        let own = marks.iter().filter(|row| row["who"] == "here");
        let words_of = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let each: Vec<String> = own.map(|row| format!("{}: {}", words_of(row, "row"), words_of(row, "said"))).collect();
        let columns = Columns {
            title: "What a thread costs over what a task costs",
            sides: [("a thread", Side::Right), ("a task", Side::Left)],
            ratio: "thread over task",
        };
        Ok(Figure {
            name: LADDER,
            file: LADDER.to_owned(),
            shape: LADDER,
            title: columns.title,
            spoken: format!("{} {}.", self.finding(view, Form::Text)?, each.join("; ")),
            marks,
            titles: Vec::new(),
            finding: self.finding(view, Form::Page)?,
            key: "Bar: this page's machine, with its 95 % interval. Rings: others that ran the same programs."
                .to_owned(),
            caption: String::new(),
            stale: stale(view, &compared)?,
            table: columns.table(view, &compared)?,
            csv: columns.csv(view, &compared)?,
            cite: String::new(),
        })
    }

    fn numbers(&self, view: &View, _: Form) -> Result<String> {
        Ok(lines(&all_marks(view, &compared(view)?)))
    }

    fn is_known(&self, view: &View) -> Result<()> {
        view.front.takeaway(LADDER).map(drop)
    }
}

fn compared(view: &View) -> Result<Vec<Compared<'_>>> {
    view.front.ladder.iter().map(|pair| Compared::of(view, pair)).collect()
}

fn all_marks(view: &View, compared: &[Compared]) -> Vec<Value> {
    compared.iter().flat_map(|own| marks(own, &view.machine)).collect()
}

/// The same, those of this machine with the way to the row of their ratio.
fn linked_marks(view: &View, compared: &[Compared]) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for own in compared {
        let way = view.link_to_number(&own.asked.ratio)?;
        for mut mark in marks(own, &view.machine) {
            if mark["who"] == "here" {
                mark["way"] = way.as_str().into();
            }
            all.push(mark);
        }
    }
    Ok(all)
}
