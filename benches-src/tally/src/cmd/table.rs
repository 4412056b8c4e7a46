//! `tally table`: everything an experiment measured, cell by cell.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Args;

use crate::cell::Cell;
use crate::counts::Counts;
use crate::downloads::{self, SmallPrint};
use crate::escape::html;
use crate::expression::Expression;
use crate::format::{self, Scale};
use crate::plan::{Experiment, Plan};
use crate::published::{Figure, Publication};
use crate::quantity::{Measured, Missing, Quantity};
use crate::record::Record;
use crate::render::{self, Form};
use crate::sources::Freshness;
use crate::view::View;

/// Everything that an experiment measured
#[derive(Args)]
pub struct Table {
    /// The experiment
    pub experiment: String,
}

impl Table {
    /// Prints it.
    pub fn print(&self, view: &View, form: Form) -> Result<String> {
        let (plan, experiment) = view.plans.experiment(&self.experiment)?;
        let kept = view.kept(plan, experiment)?;
        match kept.as_ref() {
            Err(missing) => Ok(without_record(missing, experiment, form)),
            Ok((record, freshness)) => {
                if let Some(count) = experiment.count {
                    let counts = Counts::of(experiment, count, record)?;
                    return counts.print(view, plan, experiment, (record, freshness), form);
                }
                let rows = Row::all(experiment, record)?;
                match form {
                    Form::Page => page(view, plan, experiment, record, freshness, &rows),
                    Form::Text => Ok(text(experiment, &rows)),
                    Form::Json => Ok(json(view, record, freshness, &rows)),
                }
            }
        }
    }
}

fn without_record(missing: &Missing, experiment: &Experiment, form: Form) -> String {
    match form {
        // The anchor is there though the table is not, so that no link to it is dead.
        Form::Page => format!("<div id=\"{}\">\n{}</div>\n", experiment.name, render::boxed(missing)),
        Form::Text => format!("({}: {})\n", missing.word, missing.reason),
        Form::Json => serde_json::json!({ "missing": missing.word, "reason": missing.reason }).to_string() + "\n",
    }
}

/// A cell with everything that its row says.
pub struct Row {
    /// The cell.
    pub cell: Cell,
    /// Its time per operation.
    pub elapsed: Measured,
    /// The same beyond its baseline's, where it has one.
    pub beyond: Option<Measured>,
    /// What stands beside the time: counters, or quantiles of single laps.
    pub counters: Vec<Measured>,
}

/// A measure and the head of its column.
type Column = (&'static str, &'static str);

/// The measures of a row beside its time. What counts the whole system has a column only where a cell moves it.
const COUNTERS: &[Column] = &[
    ("voluntary_switches", "voluntary switches"),
    ("involuntary_switches", "involuntary switches"),
    ("user_ns", "CPU, user"),
    ("system_ns", "CPU, system"),
    ("migrations", "migrations"),
    ("system_idle_entries", "idle entries, system"),
    ("system_rescheduling_interrupts", "rescheduling interrupts, system"),
    ("system_function_call_interrupts", "function-call interrupts, system"),
    ("system_steal_ticks", "steal ticks, system"),
];

/// The same where single laps were timed.
const QUANTILES: &[Column] = &[
    ("quantile_0.5", "half of the laps within"),
    ("quantile_0.9", "90 % within"),
    ("quantile_0.99", "99 % within"),
    ("quantile_0.999", "99.9 % within"),
    ("voluntary_switches", "voluntary switches"),
];

fn measures(experiment: &Experiment) -> &'static [Column] {
    if experiment.histogram_laps.is_some() { QUANTILES } else { COUNTERS }
}

/// Whether it counts what the whole system does.
fn is_system_wide(measure: &str) -> bool {
    measure.starts_with("system_") && measure != "system_ns"
}

fn is_time(measure: &str) -> bool {
    measure.ends_with("_ns") || measure.starts_with("quantile_")
}

impl Row {
    /// Every cell of a record, and those that only a full run would have measured.
    pub fn all(experiment: &Experiment, record: &Record) -> Result<Vec<Self>> {
        planned_cells(experiment)?.iter().map(|cell| Self::of(experiment, record, cell)).collect()
    }

    fn is_full_only(&self) -> bool {
        self.elapsed.as_ref().is_err_and(|missing| missing.word == "full only")
    }

    fn of(experiment: &Experiment, record: &Record, cell: &Cell) -> Result<Self> {
        let evaluate = |text: &str| record.evaluate(&Expression::parse(text)?);
        let baseline = experiment.group(&cell.program).and_then(|group| group.beyond.as_ref());
        let beyond = baseline.map(|program| {
            let shared = Cell { program: program.clone(), ..cell.clone() };
            let known: Vec<Cell> = experiment.full_cells()?;
            // The baseline has only the parameters that it understands.
            let same = |condition: &Option<String>| {
                known.iter().find(|other| {
                    let agrees = |(name, value)| shared.parameters.get(name) == Some(value);
                    other.program == *program
                        && other.placement == cell.placement
                        && other.condition == *condition
                        && other.parameters.iter().all(agrees)
                })
            };
            // A baseline that is not run under the cell's condition stands for it without any.
            match same(&cell.condition).or_else(|| same(&None)) {
                Some(other) => evaluate(&format!("{cell} - {other}")),
                None => Ok(Err(Missing::new("not measured", format!("the plan has no {shared}")))),
            }
        });
        Ok(Self {
            elapsed: evaluate(&cell.to_string())?,
            beyond: beyond.transpose()?,
            counters: measures(experiment)
                .iter()
                .map(|(name, _)| evaluate(&format!("{cell}.{name}")))
                .collect::<Result<_>>()?,
            cell: cell.clone(),
        })
    }
}

/// Every cell of a full run but the second arms of A/A pairs, in the order of a table.
pub fn planned_cells(experiment: &Experiment) -> Result<Vec<Cell>> {
    let mut cells = experiment.full_cells()?;
    cells.retain(|cell| !cell.is_twin());
    cells.sort_by_key(|cell| crate::cell::PLACEMENTS.iter().position(|placement| *placement == cell.placement));
    Ok(cells)
}

/// Parameters that have the same value in every row.
pub fn shared_parameters(rows: &[Row]) -> Vec<String> {
    shared_among(&rows.iter().map(|row| &row.cell).collect::<Vec<_>>())
}

/// Parameters that have the same value in every cell.
pub fn shared_among(cells: &[&Cell]) -> Vec<String> {
    let names: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.parameters.keys()).collect();
    let same = |name: &&String| {
        let mut values = cells.iter().filter_map(|cell| cell.parameters.get(*name));
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    names.into_iter().filter(same).cloned().collect()
}

/// What all cells share, as it stands in a caption: `hops 500.`
pub fn shared_values(cells: &[&Cell], shared: &[String]) -> String {
    let known = |name: &String| cells.iter().find_map(|cell| cell.parameters.get(name));
    let value = |name: &String| Some(format!("{name} {}", crate::cell::plain(known(name)?)));
    let values: Vec<String> = shared.iter().filter_map(value).collect();
    if values.is_empty() { String::new() } else { format!("{}.", values.join(", ")) }
}

/// One scale for a whole column: that of its largest number.
pub fn scale<'a>(column: impl Iterator<Item = &'a Measured>) -> Scale {
    let medians = column.filter_map(|measured| measured.as_ref().ok()).map(|quantity| quantity.estimate.median);
    Scale::of(medians.fold(0.0, f64::max))
}

fn page(
    view: &View,
    plan: &Plan,
    experiment: &Experiment,
    record: &Record,
    freshness: &Freshness,
    rows: &[Row],
) -> Result<String> {
    let shared = shared_parameters(rows);
    let (full_only, measured): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_full_only());
    let columns = Columns::of(view, experiment, &measured)?;
    let mut out = format!("<div class=\"figure table\" id=\"{}\">\n", experiment.name);
    if let Some(note) = render::freshness(freshness, experiment) {
        out += &render::boxed(&note);
    }
    out += "<div class=\"wide\" tabindex=\"0\">\n<table>\n";
    out += &format!("<caption><span>{}</span></caption>\n", caption(view, plan, experiment, &measured, &shared)?);
    out += &columns.head(&experiment.per);
    out += "<tbody>\n";
    let mut placement = "";
    for row in &measured {
        if row.cell.placement != placement {
            placement = &row.cell.placement;
            let width = columns.width();
            out += &format!("<tr><th colspan=\"{width}\" scope=\"rowgroup\">{}</th></tr>\n", html(placement));
        }
        let anchor = render::row_anchor(experiment, &row.cell);
        let listing = format!("{}.md#{}", plan.chapter, row.cell.program);
        let label = html(&row.cell.label(&shared));
        out += &format!("<tr id=\"{anchor}\"><th scope=\"row\"><a href=\"{listing}\">{label}</a></th>");
        out += &columns.cells(view, row)?;
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    out += &footnotes(record, &full_only, &shared);
    let command = format!("cargo tally table {}", experiment.name);
    out += &SmallPrint { figure: &experiment.name, command: &command, csv: &downloads::csv(rows), more: &[] }
        .page(view, plan, experiment)?;
    Ok(out + "</div>\n")
}

fn caption(view: &View, plan: &Plan, experiment: &Experiment, rows: &[&Row], shared: &[String]) -> Result<String> {
    let of = shared_values(&rows.iter().map(|row| &row.cell).collect::<Vec<_>>(), shared);
    Ok(format!(
        "{} {} Median per {} and its 95 % interval over rounds of fresh processes; {}.",
        html(&experiment.question),
        html(&of),
        html(&experiment.per),
        html(&render::context(view, plan, experiment)?)
    ))
}

/// The columns that a table has something to say in, and the scale of its times.
struct Columns {
    scale: Scale,
    beyond: bool,
    /// Each with its place among a row's counters.
    measures: Vec<(usize, Column)>,
    published: bool,
}

impl Columns {
    fn of(view: &View, experiment: &Experiment, rows: &[&Row]) -> Result<Self> {
        let mut published = false;
        for row in rows {
            published |= !view.published.beside(&row.cell)?.is_empty();
        }
        // What moves less than this per operation rounds to nothing.
        const LEAST: f64 = 0.005;
        let moves = |row: &&Row, index: usize| {
            row.counters[index].as_ref().is_ok_and(|quantity| quantity.estimate.median >= LEAST)
        };
        let is_shown =
            |(index, (name, _)): &(usize, Column)| !is_system_wide(name) || rows.iter().any(|row| moves(row, *index));
        Ok(Self {
            scale: scale(rows.iter().map(|row| &row.elapsed)),
            beyond: rows.iter().any(|row| row.beyond.is_some()),
            measures: measures(experiment).iter().copied().enumerate().filter(is_shown).collect(),
            published,
        })
    }

    /// How many there are, the program's among them.
    fn width(&self) -> usize {
        3 + usize::from(self.beyond) + self.measures.len() + usize::from(self.published)
    }

    fn head(&self, per: &str) -> String {
        let column = |text: &str| format!("<th scope=\"col\">{}</th>", html(text));
        let time = |text: &str| column(&format!("{text}, {}", self.scale.name));
        let mut head = vec![column("program"), time(&format!("one {per}"))];
        head.extend(self.beyond.then(|| time("beyond I/O")));
        let measures = self.measures.iter();
        head.extend(measures.map(|(_, (name, text))| if is_time(name) { time(text) } else { column(text) }));
        head.push(column("rounds"));
        head.extend(self.published.then(|| time("published")));
        format!("<thead>\n<tr>{}</tr>\n</thead>\n", head.concat())
    }

    /// A row's cells after the program's.
    fn cells(&self, view: &View, row: &Row) -> Result<String> {
        let elapsed = match &row.elapsed {
            Ok(quantity) => quantity,
            Err(missing) => {
                let (width, word, reason) = (self.width() - 1, render::boxed_inline(missing), html(&missing.reason));
                return Ok(format!("<td colspan=\"{width}\" class=\"none\">{word} {reason}</td>"));
            }
        };
        let time = |measured: &Measured| shown(measured, |quantity| scaled(quantity, self.scale));
        let uncounted = row.counters.iter().all(Result::is_err);
        let measure = |(index, (name, _)): &(usize, Column)| {
            shown(&row.counters[*index], |quantity| match is_time(name) {
                true => html(&self.scale.show(quantity.estimate.median)),
                false => html(&format::quantity(quantity).value),
            })
        };
        let mut cells = vec![time(&row.elapsed)];
        if self.beyond {
            cells.push(row.beyond.as_ref().map_or("<td></td>".to_owned(), time));
        }
        match row.counters.first() {
            // One reason says it for all.
            Some(Err(missing)) if uncounted => {
                let (width, word) = (self.measures.len(), render::boxed_inline(missing));
                cells.push(format!("<td colspan=\"{width}\" class=\"none\">{word} no counters of its own</td>"));
            }
            _ => cells.extend(self.measures.iter().map(measure)),
        }
        cells.push(format!("<td>{}</td>", elapsed.estimate.rounds));
        if self.published {
            let figure = |(_, figure): &(&Publication, &Figure)| {
                let (value, label) = (html(&self.scale.show(figure.value)), html(&figure.label));
                format!("{value} <span class=\"interval\">{label}</span>")
            };
            let figures: String = view.published.beside(&row.cell)?.iter().map(figure).collect();
            cells.push(format!("<td>{figures}</td>"));
        }
        Ok(cells.concat())
    }
}

fn shown(measured: &Measured, show: impl Fn(&Quantity) -> String) -> String {
    match measured {
        Ok(quantity) => format!("<td>{}</td>", show(quantity)),
        Err(missing) => format!("<td>{}</td>", render::boxed_inline(missing)),
    }
}

fn scaled(quantity: &Quantity, scale: Scale) -> String {
    let interval = match quantity.estimate.interval {
        Some((low, high)) => format!("{}–{}", scale.show(low), scale.show(high)),
        None => "no interval".to_owned(),
    };
    format!("{} <span class=\"interval\">{}</span>", html(&scale.show(quantity.estimate.median)), html(&interval))
}

/// What the numbers' own session says against them.
fn footnotes(record: &Record, full_only: &[&Row], shared: &[String]) -> String {
    let cells: Vec<&Cell> = full_only.iter().map(|row| &row.cell).collect();
    let mut notes: Vec<String> = full_only_note(&cells, shared).into_iter().collect();
    match record.noise_floor() {
        Some(floor) => notes.push(format!(
            "Noise floor: the same program run as both arms of a comparison differed by up to {}; no difference below that is called one.",
            format::percent(floor)
        )),
        None => notes.push("Noise floor: not known, for lack of rounds.".to_owned()),
    }
    if let Some(end) = &record.end
        && let (Some(width), true) = (end.headline_half_width, end.target > 0.0)
    {
        let reached = if width <= end.target { "reached" } else { "missed" };
        let doubled = if end.doubled { ", after the rounds had been doubled once" } else { "" };
        notes.push(format!(
            "Precision of the headline ratio: ±{}, the target of ±{} was {reached}{doubled}.",
            format::percent(width),
            format::percent(end.target)
        ));
    }
    notes.extend(record.doubts().into_iter().map(|doubt| format!("Doubt: {doubt}.")));
    list_of_notes(&notes)
}

/// Which cells a quick record lacks, if it lacks any.
pub fn full_only_note(cells: &[&Cell], shared: &[String]) -> Option<String> {
    let labels: Vec<String> = cells.iter().map(|cell| format!("{} · {}", cell.label(shared), cell.placement)).collect();
    (!labels.is_empty()).then(|| format!("Measured with effort = full only: {}.", labels.join(", ")))
}

/// Notes under a table, as HTML.
pub fn list_of_notes(notes: &[String]) -> String {
    let items: String = notes.iter().map(|note| format!("<li>{}</li>\n", html(note))).collect();
    format!("<ul class=\"footnotes\">\n{items}</ul>\n")
}

fn text(experiment: &Experiment, rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.cell.to_string().len()).max().unwrap_or(0);
    let mut out = format!("{:width$}  one {}\n", "cell", experiment.per);
    for row in rows {
        out += &format!("{:width$}  {}", row.cell.to_string(), render::plain(&row.elapsed));
        if let Some(beyond) = &row.beyond {
            out += &format!(", beyond I/O {}", render::plain(beyond));
        }
        out += "\n";
    }
    out
}

fn json(view: &View, record: &Record, freshness: &Freshness, rows: &[Row]) -> String {
    let state = render::state_word(&Ok((record.clone(), freshness.clone())));
    let row = |row: &Row| render::json(&row.cell.to_string(), &row.elapsed, view.machine.slug(), state);
    serde_json::Value::from(rows.iter().map(row).collect::<Vec<_>>()).to_string() + "\n"
}
