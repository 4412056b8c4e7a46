//! The table of an experiment that counts: a row per cell, a column per kind, and no time.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::json;

use crate::cell::{Cell, plain};
use crate::cmd::table::{full_only_note, list_of_notes, planned_cells, shared_among, shared_values};
use crate::counted::Count;
use crate::downloads::{SmallPrint, csv_field};
use crate::escape::html;
use crate::expression::Expression;
use crate::format;
use crate::plan::{Experiment, Plan};
use crate::quantity::{Measured, Quantity};
use crate::record::Record;
use crate::render::{self, Form};
use crate::sources::Freshness;
use crate::view::View;

/// A kind that no cell has more of than this per operation gets no column.
const LEAST: f64 = 0.005;

/// Everything that an experiment counted.
pub struct Counts {
    count: Count,
    kinds: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    cell: Cell,
    all: Measured,
    kinds: Vec<Measured>,
}

impl Counts {
    /// Every cell of a record and those of a full run, with every kind of call that is worth a column, the most frequent first.
    pub fn of(experiment: &Experiment, count: Count, record: &Record) -> Result<Self> {
        let seen = record.runs.iter().filter_map(|run| run.observation.as_ref()).flat_map(|seen| seen.measures.keys());
        let seen: BTreeSet<&str> = seen.filter_map(|measure| measure.strip_prefix(count.of_a_kind())).collect();
        let cells = planned_cells(experiment)?;
        let mut kinds = Vec::new();
        for kind in seen {
            let of = |cell: &Cell| evaluate(record, cell, &format!("{}{kind}", count.of_a_kind()));
            let column: Vec<Measured> = cells.iter().map(of).collect::<Result<_>>()?;
            let most = column.iter().flatten().map(|quantity| quantity.estimate.median.abs()).fold(0.0, f64::max);
            if most >= LEAST {
                kinds.push((most, kind.to_owned(), column));
            }
        }
        kinds.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let row = |(index, cell): (usize, Cell)| {
            let all = evaluate(record, &cell, count.all())?;
            Ok(Row { cell, all, kinds: kinds.iter().map(|(.., column)| column[index].clone()).collect() })
        };
        let rows = cells.into_iter().enumerate().map(row).collect::<Result<_>>()?;
        Ok(Self { count, rows, kinds: kinds.into_iter().map(|(_, kind, _)| kind).collect() })
    }

    /// As it is asked for.
    pub fn print(
        &self,
        view: &View,
        plan: &Plan,
        experiment: &Experiment,
        (record, freshness): (&Record, &Freshness),
        form: Form,
    ) -> Result<String> {
        match form {
            Form::Page => self.page(view, plan, experiment, record, freshness),
            Form::Text => Ok(self.text(&experiment.per)),
            Form::Json => {
                Ok(self.json(view, render::state_word(&Ok((record.clone(), freshness.clone())))).to_string() + "\n")
            }
        }
    }

    fn page(
        &self,
        view: &View,
        plan: &Plan,
        experiment: &Experiment,
        record: &Record,
        freshness: &Freshness,
    ) -> Result<String> {
        let (full_only, counted): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.is_full_only());
        let shared = shared_among(&self.rows.iter().map(|row| &row.cell).collect::<Vec<_>>());
        let mut out = format!("<div class=\"figure table\" id=\"{}\">\n", experiment.name);
        if let Some(note) = render::freshness(freshness, experiment) {
            out += &render::boxed(&note);
        }
        out += "<div class=\"wide\" tabindex=\"0\">\n<table>\n";
        out += &format!("<caption><span>{}</span></caption>\n", self.caption(view, plan, experiment, &shared)?);
        let heads = ["program", "all"].into_iter().chain(self.kinds.iter().map(String::as_str)).chain(["rounds"]);
        let heads: String = heads.map(|head| format!("<th scope=\"col\">{}</th>", html(head))).collect();
        out += &format!("<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n");
        let mut placement = "";
        for row in counted {
            if row.cell.placement != placement {
                placement = &row.cell.placement;
                let width = self.kinds.len() + 3;
                out += &format!("<tr><th colspan=\"{width}\" scope=\"rowgroup\">{}</th></tr>\n", html(placement));
            }
            out += &row.html(plan, experiment, &shared);
        }
        out += "</tbody>\n</table>\n</div>\n";
        let cells: Vec<&Cell> = full_only.into_iter().map(|row| &row.cell).collect();
        let mut notes: Vec<String> = full_only_note(&cells, &shared).into_iter().collect();
        notes.push(format!(
            "A kind of which no cell has {LEAST} per {} has no column; the column of all has it too.",
            experiment.per
        ));
        notes.extend(record.doubts().into_iter().map(|doubt| format!("Doubt: {doubt}.")));
        out += &list_of_notes(&notes);
        let command = format!("cargo tally table {}", experiment.name);
        let small = SmallPrint { figure: &experiment.name, command: &command, csv: &self.csv(), more: &[] };
        out += &small.page(view, plan, experiment)?;
        Ok(out + "</div>\n")
    }

    fn caption(&self, view: &View, plan: &Plan, experiment: &Experiment, shared: &[String]) -> Result<String> {
        let [fewer, more] = self.count.laps();
        let (what, tool) = self.count.words();
        let cells: Vec<&Cell> = self.rows.iter().map(|row| &row.cell).collect();
        let of = shared_values(&cells, shared);
        Ok(format!(
            "{} {} {what} per {}, counted by {tool} and not timed: in a run of {fewer} laps and in one of {more}, whose difference is what the laps did. Median over rounds; {}.",
            html(&experiment.question),
            html(&of),
            html(&experiment.per),
            html(&render::context(view, plan, experiment)?)
        ))
    }

    fn text(&self, per: &str) -> String {
        let names = self.rows.iter().map(|row| row.cell.to_string());
        let width = names.map(|name| name.len()).max().unwrap_or(0);
        let mut out = format!("{:width$}  {:>10}", format!("{} per {per}", self.count.all()), "all");
        for kind in &self.kinds {
            out += &format!("  {kind:>10}");
        }
        out += "\n";
        for row in &self.rows {
            out += &format!("{:width$}", row.cell.to_string());
            match &row.all {
                Err(missing) => out += &format!("  ({}: {})", missing.word, missing.reason),
                Ok(all) => {
                    out += &format!("  {:>10}", shown(all));
                    for (kind, measured) in self.kinds.iter().zip(&row.kinds) {
                        let shown = measured.as_ref().map_or_else(|missing| missing.word.to_owned(), shown);
                        out += &format!("  {shown:>width$}", width = kind.len().max(10));
                    }
                }
            }
            out += "\n";
        }
        out
    }

    fn json(&self, view: &View, state: &str) -> serde_json::Value {
        let row = |row: &Row| {
            let mut object = render::json(&row.cell.to_string(), &row.all, view.machine.slug(), state);
            if row.all.is_ok() {
                let kinds = self.kinds.iter().zip(&row.kinds);
                let medians = kinds.map(|(kind, measured)| (kind.clone(), json!(median(measured))));
                object["kinds"] = medians.collect::<serde_json::Map<_, _>>().into();
            }
            object
        };
        self.rows.iter().map(row).collect()
    }

    /// One row per cell: medians per operation, unrounded.
    fn csv(&self) -> String {
        let heads = ["cell", "program", "placement", "condition", "parameters", "rounds", "all"].into_iter();
        let heads = heads.chain(self.kinds.iter().map(String::as_str)).chain(["missing"]);
        let mut out = line(heads.map(str::to_owned));
        for row in &self.rows {
            let parameters = row.cell.parameters.iter().map(|(name, value)| format!("{name}={}", plain(value)));
            let number = |measured: &Measured| median(measured).map_or(String::new(), |value| value.to_string());
            let first = [
                row.cell.to_string(),
                row.cell.program.clone(),
                row.cell.placement.clone(),
                row.cell.condition.clone().unwrap_or_default(),
                parameters.collect::<Vec<_>>().join(" "),
                row.all.as_ref().map_or(String::new(), |all| all.estimate.rounds.to_string()),
                number(&row.all),
            ];
            let missing = row.all.as_ref().err();
            let missing = missing.map_or(String::new(), |missing| format!("{}: {}", missing.word, missing.reason));
            out += &line(first.into_iter().chain(row.kinds.iter().map(number)).chain([missing]));
        }
        out
    }
}

impl Row {
    fn is_full_only(&self) -> bool {
        self.all.as_ref().is_err_and(|missing| missing.word == "full only")
    }

    fn html(&self, plan: &Plan, experiment: &Experiment, shared: &[String]) -> String {
        let anchor = render::row_anchor(experiment, &self.cell);
        let listing = format!("{}.md#{}", plan.chapter, self.cell.program);
        let label = html(&self.cell.label(shared));
        let head = format!("<tr id=\"{anchor}\"><th scope=\"row\"><a href=\"{listing}\">{label}</a></th>");
        let cells = match &self.all {
            Ok(all) => {
                let number = |measured: &Measured| match measured {
                    Ok(quantity) => format!("<td>{}</td>", html(&shown(quantity))),
                    Err(missing) => format!("<td>{}</td>", render::boxed_inline(missing)),
                };
                let kinds: String = self.kinds.iter().map(number).collect();
                format!("{}{kinds}<td>{}</td>", number(&self.all), all.estimate.rounds)
            }
            Err(missing) => {
                let (width, word) = (self.kinds.len() + 2, render::boxed_inline(missing));
                format!("<td colspan=\"{width}\" class=\"none\">{word} {}</td>", html(&missing.reason))
            }
        };
        format!("{head}{cells}</tr>\n")
    }
}

fn evaluate(record: &Record, cell: &Cell, measure: &str) -> Result<Measured> {
    record.evaluate(&Expression::parse(&format!("{cell}.{measure}"))?)
}

fn median(measured: &Measured) -> Option<f64> {
    measured.as_ref().ok().map(|quantity| quantity.estimate.median)
}

fn shown(quantity: &Quantity) -> String {
    format::quantity(quantity).value
}

fn line(fields: impl Iterator<Item = String>) -> String {
    fields.map(|field| csv_field(&field)).collect::<Vec<_>>().join(",") + "\n"
}
