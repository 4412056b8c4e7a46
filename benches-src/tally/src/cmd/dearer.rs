//! `tally dearer`: what we foretold of every rung of the ladder where something is dearer, and what machines show on which it is.

mod found;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::json;

use crate::book::verdict::Verdict;
use crate::compute::quantity::{Measured, Quantity};
use crate::print::dearer::Dearer as Planned;
use crate::print::downloads::{self, BOOK};
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::scatter::is_a_time;
use crate::print::view::View;
use crate::record::{self, Header};
use found::{Found, OnMachine, Row};

/// The ladder where something is dearer: what was foretold of each rung, and what machines show
#[derive(Args)]
pub struct Dearer {
    /// The prediction's name
    pub name: String,
}

impl Dearer {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let planned = view.front.dearer(&self.name)?;
        let found = Found::of(view, planned)?;
        match form {
            Form::Page => page(view, planned, &found),
            Form::Text => Ok(text(planned, &found)),
            Form::Json => Ok(found.rows.iter().map(|row| row_json(row).to_string() + "\n").collect()),
        }
    }

    /// Whether it is planned, its numbers are known, and it says something of every rung, once.
    pub fn is_known(&self, view: &View) -> Result<()> {
        let planned = view.front.dearer(&self.name)?;
        for name in [&planned.cost, &planned.beside] {
            is_a_time(&view.plans, name)?;
        }
        for rung in &view.front.ladder {
            let of_it = planned.rows.iter().filter(|row| row.ratio == rung.ratio).count();
            ensure!(of_it == 1, "{} rows are of the rung {}, and one is to be", of_it, rung.ratio);
        }
        for row in &planned.rows {
            let is_rung = view.front.ladder.iter().any(|rung| rung.ratio == row.ratio);
            ensure!(is_rung, "{} is no rung of the ladder", row.ratio);
        }
        Ok(())
    }
}

/// What came of it, in a sentence that the numbers choose.
fn finding(planned: &Planned, found: &Found) -> String {
    let Some((cheapest, dearest)) = found.cheapest.as_ref().zip(found.dearest.as_ref()) else {
        return format!("No two machines say yet what {} costs.", planned.what);
    };
    let counts = [Verdict::Holds, Verdict::Undecided, Verdict::DoesNotHold, Verdict::NotMeasured].map(|verdict| {
        let count = found.rows.iter().filter(|row| row.verdict() == verdict).count();
        (count > 0).then(|| format!("{count} {}", verdict.said_of(count)))
    });
    format!(
        "On {} {} is {}× as dear as on {}, beside work that does not contain it. Of {}, {}. {}",
        dearest.machine.name(),
        planned.what,
        format::rough(&dearest.dearer),
        cheapest.name(),
        match found.rows.len() {
            1 => "one prediction".to_owned(),
            several => format!("{several} predictions"),
        },
        counts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        found.moved()
    )
}

fn text(planned: &Planned, found: &Found) -> String {
    let mut out = format!("{}\n", finding(planned, found));
    for row in &found.rows {
        let (label, pays) = (&row.rung.label, row.foretold.pays.word());
        out += &format!("  {label}: {}. Paid by {pays}: {}\n", row.words(), row.foretold.because);
        for on in &row.on {
            out += &format!(
                "    {}: {}; times that of the cheapest {}, foretold {}: {}\n",
                on.machine.name(),
                render::plain(&on.ratio),
                said(on.change.as_ref()),
                said(on.foretold.as_ref()),
                on.word()
            );
        }
    }
    out
}

/// A number and its interval, or a dash.
fn said(number: Option<&Quantity>) -> String {
    number.map_or("–".to_owned(), |number| {
        let shown = format::quantity(number);
        shown.beside().map_or(shown.value.clone(), |interval| format!("{} [{interval}]", shown.value))
    })
}

fn row_json(row: &Row) -> serde_json::Value {
    let number = |own: Option<&Quantity>| {
        own.map(|own| {
            let (low, high) = own.estimate.interval.unzip();
            json!({ "median": own.estimate.median, "low": low, "high": high })
        })
    };
    let on = row.on.iter().map(|on| {
        json!({
            "machine": on.machine.slug(), "ratio": number(on.ratio.as_ref().ok()), "change": number(on.change.as_ref()),
            "foretold": number(on.foretold.as_ref()), "verdict": on.word(),
        })
    });
    json!({
        "ratio": row.foretold.ratio, "what": row.rung.label, "pays": row.foretold.pays.word(),
        "verdict": row.verdict().words(), "machines": on.collect::<Vec<_>>(),
    })
}

fn page(view: &View, planned: &Planned, found: &Found) -> Result<String> {
    let name = &planned.name;
    let csv = downloads::write(view, &format!("{}/{name}.csv", view.machine.slug()), &csv(found))?;
    let parts = [
        format!("<a href=\"{csv}\" download>data (CSV)</a>"),
        format!("<code class=\"command\">{}</code>", html(&format!("cargo tally dearer {name}"))),
    ];
    let finding = finding(planned, found);
    let small = downloads::small_letters(&parts, &cite(view, planned, found, &finding)?);
    Ok(format!(
        "<div class=\"figure table\" id=\"{name}\">\n<p class=\"finding\">{}</p>\n{}\
         <details class=\"numbers\">\n<summary>Every machine</summary>\n{}</details>\n{small}</div>\n",
        html(&finding),
        rungs(found),
        machines(view, found)
    ))
}

/// A row for each rung: what was foretold of the two machines that are the farthest apart, and what became of it on all.
fn rungs(found: &Found) -> String {
    let (cheapest, dearest) = (found.cheapest.as_ref(), found.dearest.as_ref().map(|dearest| &dearest.machine));
    let row = |row: &Row| {
        let of = |machine| row.on.iter().find(|on| Some(&on.machine) == machine);
        let (low, high) = (of(cheapest), of(dearest));
        let ratio = |on: Option<&OnMachine>| on.map_or("–".to_owned(), |on| ratio_of(&on.ratio));
        format!(
            "<tr><th scope=\"row\">{} <span class=\"legend\">{}</span></th><td class=\"none\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"none\"><strong>{}</strong></td></tr>\n",
            html(&row.rung.label),
            html(&row.rung.detail),
            html(row.foretold.pays.word()),
            ratio(low),
            ratio(high),
            times(high.and_then(|on| on.foretold.as_ref())),
            times(high.and_then(|on| on.change.as_ref())),
            html(&row.words())
        )
    };
    let heads =
        ["thread over task", "who pays", "on the cheapest", "on the dearest", "foretold", "found", "on all machines"];
    let rows: String = found.rows.iter().map(row).collect();
    render::table("Each rung of the ladder: foretold and found", &heads, &rows)
}

/// How many times the cheapest one's ratio a machine's is, with its interval.
fn times(number: Option<&Quantity>) -> String {
    number.map_or("–".to_owned(), |own| format!("× {}", render::in_table(&format::quantity(own))))
}

fn ratio_of(measured: &Measured) -> String {
    match measured {
        Ok(quantity) => render::in_table(&format::quantity(quantity)),
        Err(missing) => render::boxed_inline(missing),
    }
}

/// Every rung on every machine.
fn machines(view: &View, found: &Found) -> String {
    let mut rows = String::new();
    for row in &found.rows {
        rows += &format!(
            "<tr><th scope=\"rowgroup\" colspan=\"5\">{}. Paid by {}: {}</th></tr>\n",
            html(&row.rung.label),
            html(row.foretold.pays.word()),
            html(&row.foretold.because)
        );
        for on in &row.on {
            rows += &format!(
                "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"none\">{}</td></tr>\n",
                html(on.machine.name()),
                view.reference_mark(&on.machine),
                ratio_of(&on.ratio),
                times(on.foretold.as_ref()),
                times(on.change.as_ref()),
                html(on.word())
            );
        }
    }
    let heads = ["machine", "thread over task", "foretold, times the cheapest's", "found", "verdict"];
    render::table("Each rung of the ladder on every machine", &heads, &rows)
}

fn csv(found: &Found) -> String {
    let numbers = ["ratio", "foretold", "found"].into_iter().flat_map(downloads::csv_heads);
    let words = ["rung", "pays", "machine"].map(str::to_owned);
    let mut out = downloads::csv_line(words.into_iter().chain(numbers).chain(["verdict".to_owned()]));
    for row in &found.rows {
        for on in &row.on {
            let words = [row.foretold.ratio.clone(), row.foretold.pays.word().to_owned(), on.machine.slug().to_owned()];
            let numbers = [on.ratio.as_ref().ok(), on.foretold.as_ref(), on.change.as_ref()];
            let numbers = numbers.into_iter().flat_map(|own| downloads::csv_numbers(own.map(|own| own.estimate)));
            out += &downloads::csv_line(words.into_iter().chain(numbers).chain([on.word().to_owned()]));
        }
    }
    out
}

/// How to cite it: what it says, and when that was measured.
fn cite(view: &View, planned: &Planned, found: &Found, finding: &str) -> Result<String> {
    let asked = view.plans.asked(&planned.cost, None)?;
    let mut headers: Vec<Header> = Vec::new();
    for row in &found.rows {
        let ratio = view.plans.asked(&row.foretold.ratio, None).context("checked when it was evaluated")?;
        for on in row.on.iter().filter(|on| on.ratio.is_ok()) {
            headers.extend(view.header_on(&on.machine, ratio.plan, ratio.experiment)?.map(|(header, _)| header));
        }
    }
    if headers.is_empty() {
        return Ok(String::new());
    }
    let text = format!(
        "{finding} {BOOK} {}. Measured {}, effort {}.",
        planned.name,
        record::days(&headers),
        record::efforts(&headers)
    );
    Ok(downloads::citation(view, &asked.plan.chapter, &planned.name, &text))
}
