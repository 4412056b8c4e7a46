//! `tally limits`: the limits of a machine, the ceilings that each implies, which binds first, and
//! how to raise it.

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::book::experiment::Experiment;
use crate::book::expression::Expression;
use crate::book::plan::Plan;
use crate::book::quantities::Asked;
use crate::book::unit::Unit;
use crate::cmd::json_array;
use crate::compute::quantity::Measured;
use crate::print::escape::html;
use crate::print::format;
use crate::print::render::{self, Form};
use crate::print::table::{Cell, Table};
use crate::print::view::View;
use crate::project::Machine;

/// The limits of a machine, what each implies, and how to raise it
#[derive(Args)]
pub struct Limits {}

/// The experiment whose record says what the limits are. That record has for each limit what it
/// implies, so that nothing is computed here.
const EXPERIMENT: &str = "ceilings";

/// Limits are read when they are measured and never when they are printed.
const AGAIN: &str = "cargo tally measure ceilings --again";

/// What the chapter knows about limits beside their values: `limits.toml` in its folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Guide {
    #[serde(rename = "unit")]
    units: Vec<Bounded>,
    #[serde(rename = "limit")]
    limits: Vec<Known>,
}

/// What a limit is a ceiling of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounded {
    /// What measures of ceilings call it.
    name: String,
    /// What a reader calls several.
    plural: String,
}

/// What a reader should know about a limit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// What it is, in a few words.
    name: String,
    /// The measure that is its value.
    value: String,
    /// What it is called in measures of ceilings; nothing where it bounds another limit only.
    by: Option<String>,
    /// Where it is set.
    source: String,
    /// The command that raises it: far enough for 500,000 threads of the standard library. `GROUP`
    /// stands for the group whose limit binds.
    #[serde(default)]
    command: String,
    /// What that risks.
    risk: String,
}

impl Guide {
    fn load(view: &View, plan: &Plan) -> Result<Self> {
        let path = view.project.limits(&plan.chapter);
        let read = || -> Result<Self> { Ok(toml::from_str(&fs::read_to_string(&path)?)?) };
        read().with_context(|| format!("in {}", path.display()))
    }
}

/// A limit with everything that its row says.
struct Row<'a> {
    known: &'a Known,
    value: Measured,
    /// One per unit; nothing where the limit bounds only another limit.
    ceilings: Vec<Option<Measured>>,
    /// Whether it is the lowest, unit by unit.
    first: Vec<bool>,
    command: String,
}

/// Whether what is printed is planned, and known.
pub fn is_known(view: &View) -> Result<()> {
    let (plan, _) = experiment(view)?;
    Guide::load(view, plan).map(drop)
}

/// Where the record of the limits is planned.
fn experiment(view: &View) -> Result<(&Plan, &Experiment)> {
    view.plans.experiment(EXPERIMENT)
}

impl Limits {
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let (plan, experiment) = experiment(view)?;
        let kept = view.kept(plan, experiment)?;
        let aged = match kept.as_ref() {
            Err(missing) => return Ok(render::missing(missing, form)),
            Ok((_, aged)) => aged,
        };
        let guide = Guide::load(view, plan)?;
        let rows = rows(view, plan, experiment, &guide)?;
        let stale = render::stale_only(aged, experiment, &view.machine);
        let stale = stale.map_or(String::new(), |note| render::missing(&note, form));
        let context = render::context(view, plan, experiment)?;
        Ok(match form {
            Form::Page => page(&guide.units, &rows, &context, &stale, again(view)),
            Form::Text => {
                let rows: String = rows.iter().map(|row| text(&guide.units, row)).collect();
                format!("{stale}{rows}\nAs they were measured: {context}.\n{}: {AGAIN}\n", again(view))
            }
            Form::Json => json_array(&rows, |row| object(&guide.units, row)),
        })
    }
}

/// What the command does that measures them.
fn again(view: &View) -> &'static str {
    match view.machine {
        Machine::Local => "To measure them again",
        Machine::Exported(_) | Machine::Session(_) => "To measure those of your own machine",
    }
}

fn rows<'a>(view: &View, plan: &Plan, experiment: &Experiment, guide: &'a Guide) -> Result<Vec<Row<'a>>> {
    let [program] = experiment.programs()[..] else { bail!("{EXPERIMENT} is what one program reads") };
    let ask = |measure: &str| {
        let expression = Expression::parse(&format!("{program}[free].{measure}"))?;
        view.evaluate(&Asked { plan, experiment, expression })
    };
    let lowest = guide.units.iter().map(|unit| ask(&format!("{}_ceiling", unit.name)).map(|ceiling| number(&ceiling)));
    let lowest: Vec<Option<f64>> = lowest.collect::<Result<_>>()?;
    let group = group(number(&ask("pids_version")?), number(&ask("pids_level")?));
    let mut rows = Vec::new();
    for known in &guide.limits {
        let ceiling = |unit: &Bounded| known.by.as_ref().map(|by| ask(&format!("{}_by_{by}", unit.name))).transpose();
        let ceilings: Vec<Option<Measured>> = guide.units.iter().map(ceiling).collect::<Result<_>>()?;
        let is_lowest = |(ceiling, lowest): (&Option<Measured>, &Option<f64>)| {
            let units = ceiling.as_ref().and_then(number);
            units.is_some() && units == *lowest
        };
        let first = ceilings.iter().zip(&lowest).map(is_lowest).collect();
        let command = known.command.replace("GROUP", &group);
        rows.push(Row { known, value: ask(&known.value)?, ceilings, first, command });
    }
    Ok(rows)
}

fn number(measured: &Measured) -> Option<f64> {
    measured.as_ref().ok().map(|quantity| quantity.estimate.median)
}

/// A shell's words for the group whose limit is the tightest, without its name.
fn group(version: Option<f64>, level: Option<f64>) -> String {
    // Deeper than any system nests them, whatever a record says.
    const DEEPEST: f64 = 64.0;
    let above = "/..".repeat(level.unwrap_or(0.0).min(DEEPEST) as usize);
    match version {
        Some(1.0) => format!("/sys/fs/cgroup/pids$(sed -n 's/^[0-9]*:pids://p' /proc/self/cgroup){above}"),
        _ => format!("/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup){above}"),
    }
}

/// A setting is exact: it is not rounded.
fn exact(measured: &Measured) -> String {
    match measured {
        Ok(quantity) if quantity.unit == Unit::Bytes => format::quantity(quantity).value,
        // The median of an even number of rounds may end in half a unit, which nobody can hold.
        Ok(quantity) => format::grouped(&quantity.estimate.median.floor().to_string()),
        Err(missing) => missing.reason.strip_prefix("because ").unwrap_or(&missing.reason).to_owned(),
    }
}

fn page(units: &[Bounded], rows: &[Row], context: &str, stale: &str, again: &str) -> String {
    let heads = ["limit", "value"].into_iter().chain(units.iter().map(|unit| unit.plural.as_str()));
    let mut table = Table::new("Limits", heads).captioned(format!(
        "Each limit and the number of units at which it would stop; the lowest of a column is marked. As they were \
         measured: {}.",
        html(context)
    ));
    for row in rows {
        let ceilings = row.ceilings.iter().zip(&row.first).map(|(ceiling, first)| cell(ceiling, *first));
        table.row(html(&row.known.name), [Cell::text(&exact(&row.value))].into_iter().chain(ceilings));
    }
    let mut out = format!("<div class=\"figure table\" id=\"the-limits\">\n{stale}{}", table.page());
    let raise = rows.iter().map(|row| {
        let command = match row.command.is_empty() {
            true => String::new(),
            false => format!(" <code class=\"command for-root\">{}</code>", html(&row.command)),
        };
        format!(
            "<li><strong>{}</strong> ({}):{command} {}</li>\n",
            html(&row.known.name),
            html(&row.known.source),
            html(&row.known.risk)
        )
    });
    out += &format!(
        "<details>\n<summary>Where each is set, how to raise it, and what that risks</summary>\n<p>As root. The \
         values are enough for \
         500,000 threads; what a command sets lasts until the next start of the machine, or of the shell.</p>\n\
         <ul>\n{}</ul>\n</details>\n",
        raise.collect::<String>()
    );
    let commands = ["cargo tally limits", AGAIN].map(|command| format!("<code class=\"command\">{command}</code>"));
    out + &format!("<p class=\"small\">{} · {again}: {}</p>\n</div>\n", commands[0], commands[1])
}

fn cell(ceiling: &Option<Measured>, first: bool) -> Cell {
    match ceiling {
        None => Cell::empty(),
        Some(Err(missing)) if missing.reason.ends_with("unlimited") => Cell::html("–"),
        Some(Err(missing)) => Cell::html(render::boxed_inline(missing)),
        Some(ceiling) if first => Cell::html(format!("<strong>{} ← first</strong>", html(&exact(ceiling)))),
        Some(ceiling) => Cell::text(&exact(ceiling)),
    }
}

fn text(units: &[Bounded], row: &Row) -> String {
    let mut out = format!("{:40} {}\n    {}\n", row.known.name, exact(&row.value), row.known.source);
    for ((ceiling, first), unit) in row.ceilings.iter().zip(&row.first).zip(units) {
        if let Some(ceiling @ Ok(_)) = ceiling {
            out +=
                &format!("    {}: {}{}\n", unit.plural, exact(ceiling), if *first { "  <- binds first" } else { "" });
        }
    }
    if !row.command.is_empty() {
        out += &format!("    to raise it: {}\n", row.command);
    }
    out + &format!("    {}\n", row.known.risk)
}

fn object(units: &[Bounded], row: &Row) -> serde_json::Value {
    let of = |measured: &Measured| match measured {
        Ok(quantity) => json!(quantity.estimate.median),
        Err(_) => json!({ "missing": exact(measured) }),
    };
    let ceilings: serde_json::Map<String, serde_json::Value> = (row.ceilings.iter().zip(units))
        .filter_map(|(ceiling, unit)| Some((unit.name.clone(), of(ceiling.as_ref()?))))
        .collect();
    let first = row.first.iter().zip(units).filter_map(|(first, unit)| first.then_some(unit.name.as_str()));
    let first: Vec<&str> = first.collect();
    json!({
        "limit": row.known.name, "measure": row.known.value, "value": of(&row.value), "source": row.known.source,
        "ceilings": ceilings, "binds_first": first, "command": row.command, "risk": row.known.risk,
    })
}
